import Adapter
import Bluetooth
import HCI

/// An advertising set of a controller.
final class AdvertisingSet {
  let broadcast: Broadcast
  var ownAddressType = AddressType.public
  /// Its own random address, of an extended set.
  var randomAddress: UInt64?
  /// Bit 0: only devices of the filter accept list may scan; bit 1: only they may connect.
  var filterPolicy: UInt8 = 0
  var isHighDuty = false
  /// The train that it is to send; nil if it has none.
  var trainParameters: TrainParameters?
  /// True if it sends the train from its next advertisement on.
  fileprivate(set) var isTrainEnabled = false
  /// The train on the air.
  fileprivate(set) var train: Train?
  var isEnabled: Bool { broadcast.place != nil }
  /// The end of its time.
  fileprivate var alarm: (any ScheduledWork)?
  /// The events sent since it was enabled.
  fileprivate var events = 0

  init(_ broadcast: Broadcast) { self.broadcast = broadcast }
}

/// The advertising sets of a controller, by handle; with legacy commands there is one, 0.
final class AdvertisingSets {
  private unowned let controller: VirtualController
  private var sets: [UInt8: AdvertisingSet] = [:]

  /// The time of high duty cycle advertising, and its interval (Core 5.4, Vol 6, Part B, 4.4.2.4.3).
  private static let highDuty = (time: Duration.milliseconds(1280), interval: Duration.microseconds(3750))

  init(of controller: VirtualController) { self.controller = controller }

  private var air: Air { controller.air }

  var isAdvertising: Bool { sets.values.contains(where: \.isEnabled) }
  /// True if a set cannot be removed.
  var isBusy: Bool { sets.values.contains { $0.isEnabled || $0.isTrainEnabled } }

  /// A set; a new one with this handle if there is room.
  func set(_ handle: UInt8) throws(Refusal) -> AdvertisingSet {
    if let set = sets[handle] { return set }
    guard sets.count < max(1, controller.model.advertisingSets) else { throw Refusal(.memoryCapacityExceeded) }
    let stream = controller.model.stream ^ UInt64(handle) << 56
    let broadcast = Broadcast(Advertisement(), every: .milliseconds(1280), seed: air.seed, stream: stream)
    broadcast.sender = controller
    broadcast.signal = { [unowned controller] in controller.signal() }
    let set = AdvertisingSet(broadcast)
    sets[handle] = set
    return set
  }

  func existing(_ handle: UInt8) throws(Refusal) -> AdvertisingSet {
    guard let set = sets[handle] else { throw Refusal(.unknownAdvertisingIdentifier) }
    return set
  }

  /// - Parameters:
  ///   - duration: in 10 ms; 0 without an end.
  ///   - maximumEvents: 0 without an end.
  func enable(_ handle: UInt8, duration: UInt16 = 0, maximumEvents: UInt8 = 0) throws(Refusal) {
    let set = try existing(handle)
    disable(set)
    var address = controller.activities.address(set.ownAddressType)
    if set.ownAddressType != .public, let own = set.randomAddress { address.value = own }
    set.broadcast.advertisement.address = address
    set.events = 0
    var time: Duration? = duration > 0 ? .milliseconds(Int64(duration) * 10) : nil
    if let interval = controller.longInterval { set.broadcast.interval = interval }
    if set.isHighDuty {
      set.broadcast.interval = Self.highDuty.interval
      time = Self.highDuty.time
    }
    if let time {
      set.alarm = air.scheduler.schedule(after: time) { [weak self] in self?.end(handle, .advertisingTimeout) }
    }
    set.broadcast.onSent =
      maximumEvents == 0
      ? nil
      : { [weak self, unowned set] in
        set.events += 1
        if set.events >= Int(maximumEvents) { self?.end(handle, .limitReached) }
      }
    beginTrain(handle, set)
    air.add(set.broadcast)
  }

  func disable(_ handle: UInt8) throws(Refusal) { disable(try existing(handle)) }

  func disableAll() { for set in sets.values { disable(set) } }

  private func disable(_ set: AdvertisingSet) {
    air.remove(set.broadcast)
    set.alarm?.cancel()
    set.alarm = nil
  }

  func remove(_ handle: UInt8) throws(Refusal) {
    let set = try existing(handle)
    guard !set.isEnabled, !set.isTrainEnabled else { throw Refusal(.commandDisallowed) }
    sets[handle] = nil
  }

  func clear() {
    disableAll()
    for set in sets.values { endTrain(set) }
    sets = [:]
  }

  // MARK: - Trains

  /// Sends a set's train, from the set's next advertisement on; it continues when the set is disabled.
  func enableTrain(_ handle: UInt8, _ isEnabled: Bool) throws(Refusal) {
    let set = try existing(handle)
    guard isEnabled else { return endTrain(set) }
    // Parameters of the set may have followed those of the train.
    guard set.trainParameters != nil, set.broadcast.advertisement.canAnnounceTrain else {
      throw Refusal(.commandDisallowed)
    }
    set.isTrainEnabled = true
    if set.isEnabled { beginTrain(handle, set) }
  }

  private func beginTrain(_ handle: UInt8, _ set: AdvertisingSet) {
    guard set.isTrainEnabled, set.train == nil, let parameters = set.trainParameters else { return }
    let advertisement = set.broadcast.advertisement
    let train = air.addTrain { number in
      let information = TrainInformation(
        number: number, address: advertisement.address, sid: advertisement.sid, phy: advertisement.secondaryPHY,
        interval: parameters.interval, subevents: parameters.subevents)
      return Train(information, parameters, of: handle, by: controller)
    }
    set.train = train
    set.broadcast.advertisement.train = train.information
  }

  private func endTrain(_ set: AdvertisingSet) {
    set.isTrainEnabled = false
    set.broadcast.advertisement.train = nil
    if let train = set.train { air.removeTrain(train) }
    set.train = nil
  }

  private func end(_ handle: UInt8, _ reason: HCIErrorCode) {
    guard let set = sets[handle], set.isEnabled else { return }
    disable(set)
    if controller.model.isExtended {
      terminated(handle, reason, events: UInt8(clamping: set.events))
    } else {
      controller.tell(
        .leConnectionComplete(LEConnectionComplete { ($0.status, $0.role) = (HCIStatus(reason), 1) }))
    }
  }

  private func terminated(
    _ handle: UInt8, _ reason: HCIErrorCode, events: UInt8 = 0, link: ConnectionHandle = 0
  ) {
    controller.report(
      .leAdvertisingSetTerminated(
        LEAdvertisingSetTerminated {
          ($0.status, $0.advertisingHandle, $0.handle) = (HCIStatus(reason), handle, link)
          $0.completedEvents = events
        }))
  }

  // MARK: - Links

  /// True if a set accepts a connection request of this device.
  func accepts(_ device: HCIAddress, to broadcast: Broadcast, by list: Set<HCIAddress>) -> Bool {
    guard let set = sets.values.first(where: { $0.broadcast === broadcast }) else { return false }
    return set.filterPolicy & 2 == 0 || list.contains(device)
  }

  /// A set has a link, which ends it.
  func connected(by broadcast: Broadcast, _ end: LinkEnd) {
    guard let (handle, set) = sets.first(where: { $0.value.broadcast === broadcast }) else { return }
    disable(set)
    guard controller.model.isExtended else { return }
    end.onReported = { [weak self, unowned end] in self?.terminated(handle, .success, link: end.handle) }
  }
}
