import Adapter
import Bluetooth
import HCI
import Radio

/// The facts about a link from the controller's events.
struct LinkRecord {
  var parameters: LinkParameters?
  var layer = LinkLayer(txOctets: 27, rxOctets: 27)
  /// The features of the other controller, once it has told.
  var features: LEFeatures?
  /// The parameters that were asked for last.
  var wanted: ConnectionParameters?
  var requests = LinkRequests()
  /// Called when a request is settled, by its number.
  var done: [Int: (HCIStatus) -> Void] = [:]
  var alarm: (any ScheduledWork)?
}

extension KernelAdapter {
  // MARK: - Requests

  /// Asks for another interval, latency and timeout. On a link that came to us the controllers settle it between them
  /// where both can (Core 5.4, Vol 6, Part B, 5.1.7). Where one cannot, only the kernel could ask the device's host
  /// (Vol 3, Part A, 4.20), and it has no call for that: data sent past it would upset its count of packets in flight.
  func update(
    _ link: KernelLink, to parameters: ConnectionParameters, _ done: @escaping (BluetoothError?) -> Void
  ) {
    let update = LEConnectionUpdate {
      $0.handle = link.handle
      $0.intervalMin = TimeUnits.connection(parameters.interval.lowerBound)
      $0.intervalMax = TimeUnits.connection(parameters.interval.upperBound)
      $0.latency = UInt16(clamping: parameters.latency)
      $0.supervisionTimeout = TimeUnits.supervision(parameters.supervisionTimeout)
    }
    request(.parameters, CommandPacket(update), on: link, done) { status in
      switch status.code {
      case _ where link.role == .central: status.error("The connection's parameters stay as they are")
      case .unknownHCICommand, .commandDisallowed, .unsupportedFeatureOrParameterValue, .unsupportedRemoteFeature:
        GAPError.notSupported.error(
          "The two controllers cannot negotiate the connection's parameters: only the central can change them.")
      default: status.error("The connection's parameters stay as they are")
      }
    }
  }

  /// Asks for another PHY in both directions.
  func request(_ wanted: LinkPHY, on link: KernelLink, _ done: @escaping (BluetoothError?) -> Void) {
    if let lacking = lacking(wanted.phy.feature, "the \(wanted.phy.word) PHY", on: link) { return later(done, lacking) }
    let phys = wanted.phy.bit
    let command = LESetPHY {
      $0.handle = link.handle
      $0.txPHYs = phys
      $0.rxPHYs = phys
      $0.options = UInt16(wanted.coding?.rawValue ?? 0)
    }
    let finished: (BluetoothError?) -> Void = { [weak self] error in
      let layer = self?.records[link.handle]?.layer
      guard error == nil, let layer, layer.txPHY != wanted.phy || layer.rxPHY != wanted.phy else { return done(error) }
      done(GAPError.notSupported.error("\(link.peer) does not use the \(wanted.phy.word) PHY on this link."))
    }
    request(.phy, CommandPacket(command), on: link, finished) { $0.error("The connection's PHY stays as it is") }
  }

  /// Lets our packets be so long.
  func request(longestPacket octets: Int, on link: KernelLink, _ done: @escaping (BluetoothError?) -> Void) {
    let feature = LEFeatures.dataPacketLengthExtension
    if let lacking = lacking(feature, "long packets", on: link) { return later(done, lacking) }
    let hasCodedPHY = features.contains(.codedPHY)
    let command = LESetDataLength {
      $0.handle = link.handle
      $0.txOctets = UInt16(min(max(27, octets), 251))
      $0.txTime = Self.time(of: $0.txOctets, hasCodedPHY: hasCodedPHY)
    }
    request(.dataLength, CommandPacket(command), on: link, done) {
      $0.error("The length of the connection's packets stays as it is")
    }
  }

  /// How long a packet takes at most, in µs: with the 14 octets around an encrypted payload on LE 1M, and by the coding
  /// S=8 where the controller has that, so that no PHY limits the octets (Core 5.4, Vol 6, Part B, 2.1, 2.2 and
  /// 4.5.10).
  static func time(of octets: UInt16, hasCodedPHY: Bool) -> UInt16 {
    hasCodedPHY ? (octets + 9) * 64 + 400 : (octets + 14) * 8
  }

  /// Why not both controllers can do this; nil if they can, or the device's did not say.
  func lacking(_ feature: LEFeatures, _ name: String, on link: KernelLink) -> BluetoothError? {
    if !features.contains(feature) {
      return GAPError.notSupported.error("The controller of \(information.id) does not have \(name).")
    }
    if let theirs = records[link.handle]?.features, !theirs.contains(feature) {
      return GAPError.notSupported.error("\(link.peer) does not have \(name).")
    }
    return nil
  }

  func request(
    _ kind: LinkRequests.Kind, _ packet: CommandPacket, on link: KernelLink,
    _ done: @escaping (BluetoothError?) -> Void, words: @escaping (HCIStatus) -> BluetoothError
  ) {
    guard radio != nil, links[link.handle] === link, !link.isDown, records[link.handle] != nil else {
      return later(done, Self.linkEnded)
    }
    lastRequest &+= 1
    records[link.handle]?.done[lastRequest] = { status in
      if status.isSuccess { return done(nil) }
      done(status.code == .unknownConnectionIdentifier ? Self.linkEnded : words(status))
    }
    let request = LinkRequests.Request(kind: kind, packet: packet, number: lastRequest)
    update(link.handle) { $0.want(request, at: scheduler.now) }
  }

  func later(_ done: @escaping (BluetoothError?) -> Void, _ error: BluetoothError) {
    loop.execute { done(error) }
  }

  private static var linkEnded: BluetoothError { GAPError.notConnected.error("The link has ended.") }

  private func update(_ handle: UInt16, _ step: (inout LinkRequests) -> [LinkRequests.Action]) {
    guard var record = records[handle] else { return }
    let actions = step(&record.requests)
    record.alarm?.cancel()
    record.alarm = record.requests.deadline.map { deadline in
      scheduler.schedule(at: deadline) { [weak self] in
        guard let self else { return }
        update(handle) { $0.tick(at: self.scheduler.now) }
      }
    }
    records[handle] = record
    for action in actions { perform(action, handle) }
  }

  private func perform(_ action: LinkRequests.Action, _ handle: UInt16) {
    switch action {
    case .ask(let request):
      ask(request.packet) { [weak self] answer in
        guard let self else { return }
        update(handle) { $0.answered(request.number, answer.status, at: self.scheduler.now) }
      }
    case .settled(let number, let status): settle(number, handle, status)
    case .replaced(let number): settle(number, handle, .success)
    }
  }

  private func settle(_ number: Int, _ handle: UInt16, _ status: HCIStatus) {
    guard let done = records[handle]?.done.removeValue(forKey: number) else { return }
    loop.execute { done(status) }
  }

  /// The event that settles a request may have been lost: all are made again.
  func repeatRequests() {
    for handle in records.keys.sorted() { update(handle) { $0.askAgain() } }
  }

  // MARK: - What the controller tells

  /// A link came up. Its PHY may be any on which an extended advertisement can be answered, and is asked for.
  func linkBegan(_ handle: UInt16, _ parameters: LinkParameters?) {
    linkForgotten(handle)
    records[handle] = LinkRecord(parameters: parameters)
    guard canReadPHY else {
      return changed(handle) { $0.layer = .initial }
    }
    ask(CommandPacket(LEReadPHY(handle: handle))) { [weak self] answer in
      guard answer.status.isSuccess, let phys = try? answer.complete?.decoded(as: LEReadPHY.self), phys.handle == handle
      else { return }
      self?.changed(handle) { ($0.layer.txPHY, $0.layer.rxPHY) = (PHY(rawValue: phys.tx), PHY(rawValue: phys.rx)) }
    }
  }

  /// A link has ended, or its handle is used for another.
  func linkForgotten(_ handle: UInt16) {
    update(handle) { $0.end() }
    records.removeValue(forKey: handle)?.alarm?.cancel()
  }

  /// Takes a controller's news of a link.
  func take(_ news: LinkNews, _ handle: UInt16) {
    switch news {
    case .parameters(let parameters):
      changed(handle) { $0.parameters = parameters.updated(from: $0.parameters) }
      update(handle) { $0.completed(.parameters, .success, at: scheduler.now) }
    case .parametersRefused(let status):
      update(handle) { $0.completed(.parameters, status, at: scheduler.now) }
    case .phy(let status, let tx, let rx):
      if status.isSuccess { changed(handle) { ($0.layer.txPHY, $0.layer.rxPHY) = (tx, rx) } }
      update(handle) { $0.completed(.phy, status, at: scheduler.now) }
    case .subrate(let change):
      if change.status.isSuccess { changed(handle) { $0.parameters = $0.parameters?.subrated(by: change) } }
      update(handle) { $0.completed(.subrate, change.status, at: scheduler.now) }
    case .dataLength(let tx, let rx): changed(handle) { ($0.layer.txOctets, $0.layer.rxOctets) = (tx, rx) }
    case .features(let status, let features):
      if status.isSuccess { records[handle]?.features = features }
      expect { $0.asked(handle, at: scheduler.now) }
    }
  }

  private func changed(_ handle: UInt16, _ change: (inout LinkRecord) -> Void) {
    guard var record = records[handle] else { return }
    change(&record)
    records[handle] = record
    links[handle]?.update(record.parameters, record.layer)
  }

  /// Whether the controller says on which PHY a link is (Core 5.4, Vol 4, Part E, 6.27: octet 35, bit 4).
  private var canReadPHY: Bool { features.contains(.phy2M) || features.contains(.codedPHY) }
}

extension PHY {
  /// The feature of a controller that has it; all have LE 1M.
  fileprivate var feature: LEFeatures {
    switch self {
    case .le1M: []
    case .le2M: .phy2M
    case .leCoded: .codedPHY
    }
  }
}
