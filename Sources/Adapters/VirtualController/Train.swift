import Adapter
import Bluetooth
import HCI

/// A train as advertisements announce it and links transfer it: the SyncInfo field (Core 5.4, Vol 6, Part B, 2.3.4.6).
struct TrainInformation: Hashable, Sendable {
  /// Its access address: no two trains have the same one.
  var number: Int
  var address: HCIAddress
  /// The number of its advertising set in the packets.
  var sid: UInt8
  var phy: PHY
  /// In 1.25 ms.
  var interval: UInt16
  var subevents = PeriodicSubevents()
}

/// The train that a set is to send.
struct TrainParameters {
  var description = LESetPeriodicAdvertisingParametersV2()
  var data: [UInt8] = []

  /// In 1.25 ms.
  var interval: UInt16 { description.parameters.intervalMax }
  var includesTxPower: Bool {
    description.parameters.properties & LESetPeriodicAdvertisingParameters.includesTxPower != 0
  }

  /// True for values that HCI permits (Core 5.4, Vol 4, Part E, 7.8.61).
  var isValid: Bool {
    guard description.parameters.intervalMin >= 6, description.parameters.intervalMin <= interval else { return false }
    let (count, time) = (Int(description.subevents), Int(description.subeventInterval))
    guard count > 0 else { return true }
    guard count <= 128, time >= 6, count * time <= Int(interval) else { return false }
    guard description.slots > 0 else { return true }
    let delay = Int(description.slotDelay)
    return delay >= 1 && delay < time && description.slotSpacing >= 2
      && delay * 10 + Int(description.slots) * Int(description.slotSpacing) <= time * 10
  }

  var subevents: PeriodicSubevents {
    PeriodicSubevents {
      ($0.count, $0.interval) = (description.subevents, description.subeventInterval)
      ($0.slotDelay, $0.slotSpacing) = (description.slotDelay, description.slotSpacing)
    }
  }
}

/// A train of periodic advertisements on the air: its events, by the clock (Core 5.4, Vol 6, Part B, 4.4.2.12).
///
/// | Input                    | Then                                                                    |
/// |--------------------------|-------------------------------------------------------------------------|
/// | an event, with followers | each of them receives it, or misses it                                  |
/// | an event, with subevents | its host is asked for the data of the next one (`SubeventSchedule`)     |
/// | its end                  | the followers notice by their timeouts                                  |
///
/// Without followers and subevents it costs nothing.
final class Train {
  let information: TrainInformation
  var data: [UInt8]
  /// In dBm; 127 if its packets do not say.
  let txPower: Int8
  private(set) weak var sender: VirtualController?
  private(set) var followers: [TrainSync] = []
  private(set) lazy var subevents = SubeventSchedule(of: self)
  /// The number of the set that sends it.
  let handle: UInt8
  let slots: Int
  let air: Air
  /// The time of its event 0.
  private let beginning: Instant
  private var alarm: (any ScheduledWork)?
  private(set) var isOver = false

  init(_ information: TrainInformation, _ parameters: TrainParameters, of handle: UInt8, by sender: VirtualController) {
    (self.information, self.handle, self.sender, air) = (information, handle, sender, sender.air)
    (data, slots) = (parameters.data, Int(parameters.description.slots))
    txPower = parameters.includesTxPower ? 0 : 127
    beginning = sender.air.scheduler.now.advanced(by: TimeUnits.connectionUnits(information.interval))
    if hasSubevents { subevents.request(for: 0) }
    arm()
  }

  var hasSubevents: Bool { information.subevents.count > 0 }
  var interval: Duration { TimeUnits.connectionUnits(information.interval) }

  // MARK: - Times

  /// The number of the last event that has begun; -1 before the first.
  var event: Int {
    let passed = beginning.duration(to: air.scheduler.now).wholeNanoseconds
    return passed < 0 ? -1 : Int(passed / interval.wholeNanoseconds)
  }

  func start(of event: Int) -> Instant { beginning.advanced(by: interval * event) }

  func start(of subevent: UInt8, in event: Int) -> Instant {
    let time = TimeUnits.connectionUnits(UInt16(information.subevents.interval))
    return start(of: event).advanced(by: time * Int(subevent))
  }

  // MARK: - Followers

  func add(_ sync: TrainSync) {
    followers.append(sync)
    arm()
  }

  func remove(_ sync: TrainSync) { followers.removeAll { $0 === sync } }

  /// The train leaves the air.
  func end() {
    isOver = true
    alarm?.cancel()
    let former = followers
    followers = []
    for sync in former { sync.trainEnded() }
  }

  // MARK: - Events

  private func arm() {
    guard alarm == nil, !isOver, hasSubevents || !followers.isEmpty else { return }
    let next = event + 1
    alarm = air.scheduler.schedule(at: start(of: next)) { [weak self] in self?.takePlace(next) }
  }

  private func takePlace(_ event: Int) {
    alarm = nil
    if hasSubevents { subevents.request(for: event + 1) }
    for sync in followers { sync.received(reception(by: sync), at: event) }
    arm()
  }

  /// The strength of its next packet at a follower, in dBm; nil if that does not arrive.
  func reception(by sync: TrainSync) -> Int8? {
    guard let sender, sender !== sync.controller, air.carries(from: sender, to: sync.controller) else { return nil }
    return sender.signal().map { Int8(clamping: $0) }
  }
}
