import Adapter
import Bluetooth
import HCI
import Radio

/// The controller, for the requests of links.
protocol ControllerCommands: AnyObject {
  /// True while it is in use.
  var isReady: Bool { get }
  /// The features that its links can have.
  var features: LEFeatures { get }
  /// The shortest interval of its links, if it has shorter connection intervals.
  var shortestInterval: Duration? { get }
  /// Sends a command and passes its answer on.
  func ask(_ packet: CommandPacket, _ done: @escaping (CommandSlot.Answer) -> Void)
}

/// A link, for its requests.
protocol ControllerLink: AnyObject {
  var handle: ConnectionHandle { get }
  var peer: DeviceAddress { get }
  var role: LinkRole { get }
  /// True if the link has ended, even if that is not reported yet.
  var isOver: Bool { get }
  /// True if it is neither over nor being ended.
  var isUsable: Bool { get }
}

/// The parameters of the controller's links, and the requests to change them. A request needs the controller of the
/// device as well, and is settled by an event; several for one link are made in order (`LinkRequests`).
final class LinkRequester {
  private struct Record {
    var parameters: LinkParameters?
    var layer = LinkLayer(txOctets: 27, rxOctets: 27)
    /// The features of the other controller, once reported.
    var features: LEFeatures?
    /// Its features beyond the first 64, once read.
    var moreFeatures: LEMoreFeatures?
    /// True if a rate was set, which sets all later parameters, too.
    var hasRate = false
    /// The last requested parameters.
    var wanted: ConnectionParameters?
    /// The last requested PHY.
    var wantedPHY: LinkPHY?
    var requests = LinkRequests()
    /// Called when a request is settled, by its number.
    var done: [Int: (HCIStatus) -> Void] = [:]
    var alarm: (any ScheduledWork)?
  }

  /// Asks the device's host for parameters that the controllers cannot negotiate; returns true if it does.
  typealias HostRequest = (ConnectionParameters, any ControllerLink, @escaping (BluetoothError?) -> Void) ->
    Bool

  /// The way to the device's host, if there is one.
  var askHost: HostRequest?
  /// Called when the parameters of a link have changed.
  var onChange: ((ConnectionHandle) -> Void)?
  /// The trains sent over links.
  let trains: TrainTransfers
  private let radio: any TrainCommands
  private let context: AdapterContext
  private var records: [ConnectionHandle: Record] = [:]
  private var lastRequest = 0

  init(_ radio: any TrainCommands, in context: AdapterContext) {
    self.radio = radio
    self.context = context
    trains = TrainTransfers(radio, in: context)
  }

  // MARK: - Links

  /// The parameters of a link; nil if the controller did not report the connection's.
  func parameters(of handle: ConnectionHandle) -> (connection: LinkParameters?, layer: LinkLayer) {
    let record = records[handle] ?? Record()
    return (record.parameters, record.layer)
  }

  /// A link was established. Its PHY may be any on which an extended advertisement can be answered, so it is read.
  func began(_ handle: ConnectionHandle, _ parameters: LinkParameters?) {
    ended(handle)
    records[handle] = Record(parameters: parameters)
    guard canReadPHY else { return change(handle) { $0.layer = .initial } }
    radio.ask(CommandPacket(LEReadPHY(handle: handle))) { [weak self] answer in
      guard answer.status.isSuccess, let phys = try? answer.complete?.decoded(as: LEReadPHY.self), phys.handle == handle
      else { return }
      self?.change(handle) { ($0.layer.txPHY, $0.layer.rxPHY) = (PHY(rawValue: phys.tx), PHY(rawValue: phys.rx)) }
    }
  }

  /// A link has ended, or its handle is reused.
  func ended(_ handle: ConnectionHandle) {
    trains.ended(handle)
    update(handle) { $0.end() }
    records.removeValue(forKey: handle)?.alarm?.cancel()
  }

  /// The controller is closed.
  func endAll() {
    for handle in records.keys.sorted() { ended(handle) }
  }

  /// Handles a controller's report about a link.
  func receive(_ news: LinkNews, _ handle: ConnectionHandle) {
    let now = context.scheduler.now
    // A change may make the owner of the link send further requests, which this event does not settle.
    if let (kind, status) = news.outcome { update(handle) { $0.completed(kind, status, at: now) } }
    switch news {
    case .parameters(let parameters): change(handle) { $0.parameters = parameters.updated(from: $0.parameters) }
    case .rate(let parameters): change(handle) { ($0.parameters, $0.hasRate) = (parameters, true) }
    case .parametersRefused: break
    case .phy(let status, let tx, let rx):
      if status.isSuccess { change(handle) { ($0.layer.txPHY, $0.layer.rxPHY) = (tx, rx) } }
    case .subrate(let subrate):
      if subrate.status.isSuccess { change(handle) { $0.parameters = $0.parameters?.subrated(by: subrate) } }
    case .dataLength(let tx, let rx): change(handle) { ($0.layer.txOctets, $0.layer.rxOctets) = (tx, rx) }
    case .features(let status, let features): if status.isSuccess { records[handle]?.features = features }
    case .moreFeatures(let status, let features):
      if status.isSuccess { records[handle]?.moreFeatures = features }
    }
  }

  private func change(_ handle: ConnectionHandle, _ change: (inout Record) -> Void) {
    guard var record = records[handle] else { return }
    change(&record)
    records[handle] = record
    onChange?(handle)
  }

  /// True if the controller reports the PHY of a link (Core 5.4, Vol 4, Part E, 6.27: octet 35, bit 4).
  private var canReadPHY: Bool { radio.features.contains(.phy2M) || radio.features.contains(.codedPHY) }

  // MARK: - Requests

  /// Requests other parameters. Intervals below 7.5 ms require shorter connection intervals on both sides; a link that
  /// cannot have the wanted interval gets the nearest possible one.
  func request(
    _ wanted: ConnectionParameters, on link: any ControllerLink, _ done: @escaping (BluetoothError?) -> Void
  ) {
    records[link.handle]?.wanted = wanted
    guard wanted.isShort || records[link.handle]?.hasRate == true else { return negotiate(wanted, on: link, done) }
    guard lacksShortIntervals(link) == nil, records[link.handle]?.moreFeatures == nil else {
      return requestRate(wanted, on: link, done)
    }
    request(.features(of: link), on: link) { [weak self] _ in
      // A newer request brings the link to its own parameters.
      guard let self, link.isOver || records[link.handle]?.wanted == wanted else { return done(nil) }
      requestRate(wanted, on: link, done)
    }
  }

  /// Requests another rate; the features of the other controller are known if it reports them.
  private func requestRate(
    _ wanted: ConnectionParameters, on link: any ControllerLink, _ done: @escaping (BluetoothError?) -> Void
  ) {
    let withoutRate = { [weak self] (lacking: BluetoothError) in
      let isIndispensable = wanted.interval.upperBound < ConnectionParameters.shortestOrdinaryInterval
      guard let self else { return done(lacking) }
      negotiate(wanted.ordinary, on: link) { done($0 ?? (isIndispensable ? lacking : nil)) }
    }
    if let lacking = lacksShortIntervals(link) { return withoutRate(lacking) }
    let shortest = radio.shortestInterval ?? .zero
    request(.rate(of: link, to: wanted, shortest: shortest), on: link) { [weak self, context] error in
      let lacking = LinkRequest.noShortIntervals(of: "\(link.peer)")
      if error == lacking {
        self?.records[link.handle]?.moreFeatures = []
        return withoutRate(lacking)
      }
      guard error == nil || error?.domain == .hci && !link.isOver else { return done(error) }
      let hasNone = wanted.interval.upperBound < shortest
      guard let error else {
        return done(hasNone ? Self.noInterval(below: shortest, "the controller of \(context.name)") : nil)
      }
      withoutRate(GAPError.notSupported.error("\(link.peer) does not have this interval now: \(error.message)"))
    }
  }

  private static func noInterval(below shortest: Duration, _ side: String) -> BluetoothError {
    GAPError.notSupported.error("\(side) has no interval shorter than \(shortest.inSeconds * 1000) ms")
  }

  /// The reason why a link cannot have intervals below 7.5 ms; nil if it can, as far as that is known.
  private func lacksShortIntervals(_ link: any ControllerLink) -> BluetoothError? {
    if radio.shortestInterval == nil { return LinkRequest.noShortIntervals(of: "the controller of \(context.name)") }
    let record = records[link.handle]
    let needed: LEMoreFeatures = [.shorterConnectionIntervals, .shorterConnectionIntervalsHostSupport]
    let lacks =
      record?.features?.contains(.extendedFeatureSet) == false || record?.moreFeatures?.isSuperset(of: needed) == false
    return lacks ? LinkRequest.noShortIntervals(of: "\(link.peer)") : nil
  }

  /// Requests parameters that every link can have, by one command or two (`ParameterStep`).
  private func negotiate(
    _ wanted: ConnectionParameters, on link: any ControllerLink, _ done: @escaping (BluetoothError?) -> Void
  ) {
    records[link.handle]?.wanted = wanted
    switch ParameterStep.first(from: records[link.handle]?.parameters, to: wanted) {
    case .subrate: subrate(link, to: wanted, done)
    case .update:
      request(.update(of: link, to: wanted), on: link) { [weak self] error in
        if error == LinkRequest.noNegotiation, !link.isOver, self?.askHost?(wanted, link, done) == true { return }
        guard let self, error == nil, let record = records[link.handle], !link.isOver else { return done(error) }
        // A newer request brings the link to its own parameters.
        guard record.wanted == wanted, ParameterStep.next(after: record.parameters, to: wanted) == .subrate else {
          return done(nil)
        }
        subrate(link, to: wanted, done)
      }
    }
  }

  private func subrate(
    _ link: any ControllerLink, to wanted: ConnectionParameters, _ done: @escaping (BluetoothError?) -> Void
  ) {
    if let lacking = lacking(.subrating, "connection subrating", on: link) { return context.fail(done, lacking) }
    request(.subrate(of: link, to: wanted), on: link, done)
  }

  /// Requests another PHY in both directions. Once the link has LE 2M, the device may choose LE 1M again; a link keeps
  /// any other requested PHY, as controllers would leave it at once if permitted.
  func request(_ wanted: LinkPHY, on link: any ControllerLink, _ done: @escaping (BluetoothError?) -> Void) {
    let name = "the \(wanted.phy.word) PHY"
    if let lacking = lacking(wanted.phy.feature, name, on: link) { return context.fail(done, lacking) }
    records[link.handle]?.wantedPHY = wanted
    request(.phy(of: link, to: wanted), on: link) { [weak self] error in
      guard let self, error == nil, let record = records[link.handle] else { return done(error) }
      guard record.layer.has(wanted.phy) else {
        return done(GAPError.notSupported.error("\(link.peer) does not use \(name) on this link"))
      }
      done(nil)
      if wanted.phy == .le2M, record.wantedPHY == wanted { permitSlowerPHY(on: link) }
    }
  }

  /// A controller that leaves LE 2M when permitted is restricted to it again.
  private func permitSlowerPHY(on link: any ControllerLink) {
    request(.phys(of: link, [.le1M, .le2M]), on: link) { [weak self] error in
      guard let self, error == nil, let record = records[link.handle], record.wantedPHY == LinkPHY(.le2M),
        !record.layer.has(.le2M)
      else { return }
      request(.phy(of: link, to: LinkPHY(.le2M)), on: link) { _ in }
    }
  }

  /// Allows our packets this length, in octets.
  func request(
    longestPacket octets: Int, on link: any ControllerLink, _ done: @escaping (BluetoothError?) -> Void
  ) {
    if let lacking = lacking(.dataPacketLengthExtension, "long packets", on: link) {
      return context.fail(done, lacking)
    }
    request(.dataLength(of: link, to: octets, hasCodedPHY: radio.features.contains(.codedPHY)), on: link, done)
  }

  /// Transfers a train to the device.
  func transfer(
    _ train: TransferredTrain, serviceData: UInt16, over link: any ControllerLink,
    _ done: @escaping (BluetoothError?) -> Void
  ) {
    trains.transfer(train, serviceData: serviceData, over: link, theirs: records[link.handle]?.features, done)
  }

  /// Waits for a train of the device.
  func receiveTrain(
    _ parameters: SyncParameters, over link: any ControllerLink,
    _ done: @escaping (Result<ReceivedTrain, BluetoothError>) -> Void
  ) {
    trains.receive(parameters, over: link, theirs: records[link.handle]?.features, done)
  }

  /// Reads the strength of the device's signal in dBm.
  func readRSSI(of link: any ControllerLink, _ done: @escaping (Result<Int, BluetoothError>) -> Void) {
    guard radio.isReady, !link.isOver else {
      return context.fail(done, GAPError.notConnected.error("\(link.peer) is not connected"))
    }
    let scheduler = context.scheduler
    radio.ask(CommandPacket(ReadRSSI(handle: link.handle))) { answer in
      let result: Result<Int, BluetoothError>
      if answer.status.isSuccess, let value = try? answer.complete?.decoded(as: ReadRSSI.self), value.rssi != 127 {
        result = .success(Int(value.rssi))
      } else if answer.status.isSuccess {
        result = .failure(GAPError.notSupported.error("the controller does not know the signal strength"))
      } else {
        result = .failure(answer.status.error("the signal strength could not be read"))
      }
      scheduler.execute { done(result) }
    }
  }

  /// The reason why one of the controllers cannot do this; nil if both can, or the device's did not report it.
  private func lacking(_ feature: LEFeatures, _ name: String, on link: any ControllerLink) -> BluetoothError? {
    if !radio.features.contains(feature) {
      return GAPError.notSupported.error("the controller of \(context.name) does not have \(name)")
    }
    if let theirs = records[link.handle]?.features, !theirs.contains(feature) {
      return GAPError.notSupported.error("\(link.peer) does not have \(name)")
    }
    return nil
  }

  private func request(_ wanted: LinkRequest, on link: any ControllerLink, _ done: @escaping (BluetoothError?) -> Void)
  {
    guard radio.isReady, !link.isOver, records[link.handle] != nil else { return context.fail(done, Self.linkEnded) }
    lastRequest &+= 1
    records[link.handle]?.done[lastRequest] = { status in
      if status.isSuccess { return done(nil) }
      done(status.code == .unknownConnectionIdentifier ? Self.linkEnded : wanted.refusal(status))
    }
    // A procedure takes six connection events, and some before and after them.
    let pause = max(.milliseconds(100), (records[link.handle]?.parameters?.interval ?? .zero) * 8)
    let request = LinkRequests.Request(kind: wanted.kind, packet: wanted.packet, number: lastRequest, pause: pause)
    update(link.handle) { $0.want(request, at: context.scheduler.now) }
  }

  private static var linkEnded: BluetoothError { GAPError.notConnected.error("the link has ended") }

  /// The event that settles a request may have been lost: all are repeated.
  func repeatAll() {
    for handle in records.keys.sorted() { update(handle) { $0.askAgain() } }
  }

  private func update(_ handle: ConnectionHandle, _ step: (inout LinkRequests) -> [LinkRequests.Action]) {
    guard var record = records[handle] else { return }
    let actions = step(&record.requests)
    context.arm(&record.alarm, at: record.requests.deadline) { [weak self] now in
      self?.update(handle) { $0.tick(at: now) }
    }
    records[handle] = record
    for action in actions { perform(action, handle) }
  }

  private func perform(_ action: LinkRequests.Action, _ handle: ConnectionHandle) {
    switch action {
    case .ask(let request):
      radio.ask(request.packet) { [weak self] answer in
        guard let self else { return }
        update(handle) { $0.answered(request.number, answer.status, at: self.context.scheduler.now) }
      }
    case .settled(let number, let status): settle(number, handle, status)
    case .replaced(let number): settle(number, handle, .success)
    }
  }

  private func settle(_ number: Int, _ handle: ConnectionHandle, _ status: HCIStatus) {
    guard let done = records[handle]?.done.removeValue(forKey: number) else { return }
    context.scheduler.execute { done(status) }
  }
}
