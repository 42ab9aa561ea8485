import Bluetooth
import HCI

/// The advertising, scanning and initiating of a controller: its activities on the air besides links.
final class AirActivities {
  let advertising: AdvertisingSets
  /// The trains that it follows.
  let syncs: TrainSyncs
  /// The random address that the host has set.
  private var randomAddress: UInt64 = 0
  private var scanner: Scanner? { didSet { controller.air.audienceChanged(by: controller) } }
  /// The reported advertisements, if each is to be reported once.
  private var reported: Set<Advertisement>?
  /// The parameters of the next scan.
  private var scanParameters: Scanner?
  private var initiator: Initiator? { didSet { controller.air.audienceChanged(by: controller) } }
  private(set) var acceptList: Set<HCIAddress> = []
  private unowned let controller: VirtualController

  init(of controller: VirtualController) {
    self.controller = controller
    (advertising, syncs) = (AdvertisingSets(of: controller), TrainSyncs(of: controller))
  }

  var model: ControllerModel { controller.model }
  var isListening: Bool { scanner != nil || initiator != nil }

  /// An address of the controller.
  func address(_ type: AddressType) -> HCIAddress {
    let isPublic = type == .public
    return HCIAddress(
      DeviceAddress(value: isPublic ? model.address : randomAddress, kind: isPublic ? .public : .random))
  }

  /// Ends all of them.
  func reset() {
    advertising.clear()
    syncs.reset()
    (scanner, scanParameters, initiator) = (nil, nil, nil)
    acceptList = []
  }

  // MARK: - Commands

  /// - Returns: the answer behind its status; nil for a command about something else.
  func execute(_ packet: CommandPacket) throws(Refusal) -> [UInt8]? {
    if let values = try executeAdvertising(packet) { return values }
    if let values = try executeTrains(packet) { return values }
    if let values = try syncs.execute(packet) { return values }
    switch packet.opcode {
    case LESetScanParameters.opcode:
      guard scanner == nil else { throw Refusal(.commandDisallowed) }
      let wanted: LESetScanParameters = try packet.decoded()
      scanParameters = Scanner(
        isExtended: false, isActive: wanted.isActive, listening: Listening(1, [(wanted.window, wanted.interval)]),
        usesList: wanted.filterPolicy & 1 != 0)
    case LESetScanEnable.opcode:
      let wanted: LESetScanEnable = try packet.decoded()
      try scan(wanted.isEnabled, onlyOnce: wanted.filtersDuplicates)
    case LESetExtendedScanParameters.opcode where model.isExtended:
      guard scanner == nil else { throw Refusal(.commandDisallowed) }
      let wanted: LESetExtendedScanParameters = try packet.decoded()
      let listening = Listening(wanted.phys, wanted.scans.map { ($0.window, $0.interval) })
      scanParameters = Scanner(
        isExtended: true, isActive: wanted.scans.contains(where: \.isActive), listening: listening,
        usesList: wanted.filterPolicy & 1 != 0)
    case LESetExtendedScanEnable.opcode where model.isExtended:
      let wanted: LESetExtendedScanEnable = try packet.decoded()
      guard wanted.duration == 0, wanted.period == 0 else { throw Refusal(.unsupportedFeatureOrParameterValue) }
      try scan(wanted.isEnabled, onlyOnce: wanted.filtersDuplicates != 0)
    case LECreateConnection.opcode:
      let wanted: LECreateConnection = try packet.decoded()
      let times = LinkTimes(
        interval: wanted.intervalMin, latency: wanted.latency, timeout: wanted.supervisionTimeout)
      try initiate(
        Initiator(
          isExtended: false, listening: Listening(1, [(wanted.scanWindow, wanted.scanInterval)]),
          request: ConnectionRequest(own: address(wanted.ownAddressType), times: times),
          peer: wanted.filterPolicy & 1 != 0 ? nil : wanted.peer))
    case LEExtendedCreateConnection.opcode where model.isExtended:
      let wanted: LEExtendedCreateConnection = try packet.decoded()
      guard let first = wanted.initiations.first else { throw Refusal(.invalidHCICommandParameters) }
      let times = LinkTimes(interval: first.intervalMin, latency: first.latency, timeout: first.supervisionTimeout)
      let windows = wanted.initiations.map { (window: $0.scanWindow, interval: $0.scanInterval) }
      try initiate(
        Initiator(
          isExtended: true, listening: Listening(wanted.phys, windows),
          request: ConnectionRequest(own: address(wanted.ownAddressType), times: times),
          peer: wanted.filterPolicy & 1 != 0 ? nil : wanted.peer))
    case LECreateConnectionCancel.opcode:
      guard initiator != nil else { throw Refusal(.commandDisallowed) }
    case LESetRandomAddress.opcode:
      guard !advertising.isAdvertising, !isListening else { throw Refusal(.commandDisallowed) }
      randomAddress = (try packet.decoded() as LESetRandomAddress).address
    default: return try executeList(packet)
    }
    return []
  }

  private func executeList(_ packet: CommandPacket) throws(Refusal) -> [UInt8]? {
    switch packet.opcode {
    case LEClearFilterAcceptList.opcode: try changeList { $0 = [] }
    case LEAddDeviceToFilterAcceptList.opcode:
      let device = (try packet.decoded() as LEAddDeviceToFilterAcceptList).device
      guard acceptList.contains(device) || acceptList.count < model.acceptListSize else {
        throw Refusal(.memoryCapacityExceeded)
      }
      try changeList { $0.insert(device) }
    case LERemoveDeviceFromFilterAcceptList.opcode:
      let device = (try packet.decoded() as LERemoveDeviceFromFilterAcceptList).device
      try changeList { $0.remove(device) }
    default: return nil
    }
    return []
  }

  /// The list cannot be changed while it is used (Core 5.4, Vol 4, Part E, 7.8.16).
  private func changeList(_ change: (inout Set<HCIAddress>) -> Void) throws(Refusal) {
    if let initiator, initiator.peer == nil { throw Refusal(.commandDisallowed) }
    if scanner?.usesList == true { throw Refusal(.commandDisallowed) }
    change(&acceptList)
  }

  private func scan(_ isEnabled: Bool, onlyOnce: Bool) throws(Refusal) {
    guard isEnabled else { return scanner = nil }
    guard let scanParameters else { throw Refusal(.commandDisallowed) }
    reported = onlyOnce ? [] : nil
    scanner = scanParameters
  }

  private func initiate(_ new: Initiator) throws(Refusal) {
    guard initiator == nil else { throw Refusal(.commandDisallowed) }
    guard new.request.times.isValid else { throw Refusal(.invalidHCICommandParameters) }
    guard controller.hasRoomForLink else { throw Refusal(.connectionLimitExceeded) }
    initiator = new
  }

  /// The attempt to connect ends after the answer to its cancellation, if there was one.
  func cancelled() {
    guard initiator != nil else { return }
    initiator = nil
    controller.tell(.leConnectionComplete(LEConnectionComplete { $0.status = HCIStatus(.unknownConnectionIdentifier) }))
  }

  // MARK: - Reception

  /// True if it can receive an advertisement.
  func listens(to advertisement: Advertisement) -> Bool {
    scanner != nil || initiator?.wants(advertisement, acceptList) == true
  }

  /// An advertisement arrives.
  func receive(_ broadcast: Broadcast, rssi: Int8) {
    let advertisement = broadcast.advertisement
    guard advertisement.concerns([address(.public), address(.random)]) else { return }
    let isScanned = scanner?.listening.hears(advertisement, on: controller.air) == true
    if isScanned, scanner?.isExtended == true { syncs.heard(advertisement) }
    if isScanned, let scanner, !scanner.usesList || acceptList.contains(advertisement.address),
      reported?.insert(advertisement).inserted != false
    {
      for report in scanner.reports(of: advertisement, rssi: rssi) { controller.tell(report) }
    }
    if mayConnect(to: advertisement), initiator?.listening.hears(advertisement, on: controller.air) == true {
      request(broadcast)
    }
  }

  private func mayConnect(to advertisement: Advertisement) -> Bool {
    initiator?.wants(advertisement, acceptList) == true && controller.hasRoomForLink
  }

  /// The time after a delayed answer during which further requests are answered at once.
  private static let readiness = Duration.seconds(1)

  /// Sends a connection request, which a slow device answers later.
  private func request(_ broadcast: Broadcast) {
    let now = controller.air.scheduler.now
    if let answer = broadcast.answer, now < answer.advanced(by: Self.readiness) {
      return now < answer ? () : connect(to: broadcast)
    }
    let delay = broadcast.sender?.requestDelay() ?? .zero
    guard delay > .zero else { return connect(to: broadcast) }
    let answer = now.advanced(by: delay)
    broadcast.answer = answer
    _ = controller.air.scheduler.schedule(at: answer) { [weak self, weak broadcast] in
      guard let self, let broadcast, broadcast.place != nil, broadcast.answer == answer, controller.isOnAir,
        mayConnect(to: broadcast.advertisement)
      else { return }
      connect(to: broadcast)
    }
  }

  private func connect(to broadcast: Broadcast) {
    broadcast.answer = nil
    guard let initiator else { return }
    if controller.air.request(initiator.request, from: controller, to: broadcast) { self.initiator = nil }
  }
}
