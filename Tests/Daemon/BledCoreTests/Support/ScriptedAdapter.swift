import Adapter
import Bluetooth

/// An adapter controlled by a test, failures included, which records the requests to it.
final class ScriptedAdapter: Adapter {
  var information: AdapterInformation
  var state: AdapterState = .on
  var onEvent: ((AdapterEvent) -> Void)?
  private(set) var scans: [ScanParameters?] = []
  private(set) var advertisements: [AdvertisingSetID: AdvertisingParameters] = [:]
  private(set) var syncs: [PeriodicTrain: SyncParameters] = [:]
  private(set) var pendingConnections: Set<DeviceAddress> = []
  private(set) var connectCalls = 0
  /// The parameters of the last call.
  private(set) var wantedParameters: ConnectionParameters?
  private(set) var published: [UInt16: ChannelParameters] = [:]
  private(set) var unpaired: [DeviceAddress] = []
  private var bondSource: (any BondSource)?
  /// The number of notifications of bonds that it did not make.
  private(set) var addedBonds = 0
  private(set) var pairing = PairingSettings()
  private(set) var answers: [PairingAnswer] = []
  /// The questions that were answered.
  private(set) var answered: [QuestionID] = []
  private(set) var outOfBand: [DeviceAddress: OutOfBandData] = [:]
  var takesTemporaryKeys = true
  /// The callers waiting for data.
  var outOfBandReads: [(Result<OutOfBandData, BluetoothError>) -> Void] = []
  /// The requested power that the test has not switched yet.
  private var switches: [(on: Bool, done: (BluetoothError?) -> Void)] = []
  private(set) var isStopped = false
  private(set) var links: [ScriptedLink] = []
  private let scheduler: any Scheduler

  init(id: String = "hci0", scheduler: any Scheduler) {
    information = AdapterInformation(id: id, kind: "scripted")
    information.address = DeviceAddress(value: 0x00AA_0100_0000, kind: .public)
    self.scheduler = scheduler
  }

  /// The owner of the table of quirks.
  private(set) var quirkKeeper: (any QuirkKeeper)?
  var silence = ControllerSilence()

  func setQuirks(_ keeper: any QuirkKeeper) { quirkKeeper = keeper }

  /// The bonds that it can look up.
  var bonds: [Bond] { bondSource?.all ?? [] }

  /// The present wanted scan.
  var scan: ScanParameters? { scans.last ?? nil }

  /// The receivers of packets.
  private(set) var taps: [ScriptedTap] = []

  func tap(_ onEvent: @escaping (TapEvent) -> Void) throws(BluetoothError) -> any PacketTap {
    let tap = ScriptedTap(onEvent: onEvent)
    taps.append(tap)
    return tap
  }

  func start() {}
  func stop(_ done: @escaping () -> Void) {
    isStopped = true
    for link in links { link.end(reason: 0x16) }
    scheduler.schedule(after: .milliseconds(1), done)
  }
  func setPower(_ on: Bool, _ done: @escaping (BluetoothError?) -> Void) { switches.append((on, done)) }
  func setScan(_ parameters: ScanParameters?) { scans.append(parameters) }
  func setAdvertising(_ set: AdvertisingSetID, _ parameters: AdvertisingParameters?) {
    advertisements[set] = parameters
  }
  func connect(to address: DeviceAddress, _ parameters: ConnectionParameters) {
    connectCalls += 1
    wantedParameters = parameters
    pendingConnections.insert(address)
  }
  func cancelConnect(to address: DeviceAddress) { pendingConnections.remove(address) }
  func publishChannel(_ psm: UInt16?, _ parameters: ChannelParameters) throws(BluetoothError) -> UInt16 {
    let psm = psm ?? 0xFF
    guard published[psm] == nil else { throw BledError.alreadyInProgress.error("taken") }
    published[psm] = parameters
    return psm
  }
  func unpublishChannel(_ psm: UInt16) { published[psm] = nil }
  func unpair(_ address: DeviceAddress) { unpaired.append(address) }
  func setBonds(_ bonds: any BondSource) { bondSource = bonds }
  func bondsAdded() { addedBonds += 1 }
  /// The devices with private addresses that it resolves by itself.
  var resolved: Set<DeviceAddress> = []
  func resolves(_ identity: DeviceAddress) -> Bool { resolved.contains(identity) }
  func callsPrivately(_ identity: DeviceAddress) -> Bool { resolved.contains(identity) }
  func doesNotResolve(_ identity: DeviceAddress, at address: DeviceAddress) { resolved = [] }
  func readOutOfBand(_ done: @escaping (Result<OutOfBandData, BluetoothError>) -> Void) { outOfBandReads.append(done) }
  func setOutOfBand(_ data: OutOfBandData, of address: DeviceAddress) throws(BluetoothError) {
    guard data.temporaryKey == nil || takesTemporaryKeys else { throw GAPError.notSupported.error("no") }
    outOfBand[address] = data
  }
  func removeOutOfBand(of address: DeviceAddress) { outOfBand[address] = nil }
  private(set) var privacy: PrivacySettings?
  func setPrivacy(_ settings: PrivacySettings?) { privacy = settings }
  func setPairing(_ settings: PairingSettings) { pairing = settings }
  func answer(_ question: QuestionID, _ answer: PairingAnswer) {
    answers.append(answer)
    answered.append(question)
  }

  /// The data that was sent in subevents of trains, and the outcome of the next.
  private(set) var sent: [(set: AdvertisingSetID, data: SubeventData)] = []
  var sendRefusal: BluetoothError?

  func setSubevent(
    _ data: SubeventData, of set: AdvertisingSetID, _ done: @escaping (BluetoothError?) -> Void
  ) {
    sent.append((set, data))
    scheduler.schedule(after: .zero) { [sendRefusal] in done(sendRefusal) }
  }

  func setSync(_ train: PeriodicTrain, _ parameters: SyncParameters?) { syncs[train] = parameters }

  /// The subevents that were chosen, and the outcome of the next choice.
  private(set) var chosen: [[UInt8]] = []
  var choiceRefusal: BluetoothError?

  func setSubevents(_ subevents: [UInt8], of train: PeriodicTrain, _ done: @escaping (BluetoothError?) -> Void) {
    chosen.append(subevents)
    scheduler.schedule(after: .zero) { [choiceRefusal] in done(choiceRefusal) }
  }

  /// The responses to trains, and the outcome of the next one.
  private(set) var trainResponses: [TrainResponse] = []
  var responseRefusal: BluetoothError?

  func respond(_ response: TrainResponse, to train: PeriodicTrain, _ done: @escaping (BluetoothError?) -> Void) {
    trainResponses.append(response)
    scheduler.schedule(after: .zero) { [responseRefusal] in done(responseRefusal) }
  }

  /// The requested power that the test has not switched yet.
  var wantedPower: [Bool] { switches.map(\.on) }

  /// The first requested power is switched, or fails.
  func switchPower(_ error: BluetoothError? = nil) {
    let first = switches.removeFirst()
    if error == nil { change(to: first.on ? .on : .off) }
    first.done(error)
  }

  /// A link to or from this peer is established.
  @discardableResult
  func bringUp(
    _ peer: ScriptedPeer, role: LinkRole = .central, _ parameters: LinkParameters? = nil
  ) -> ScriptedLink {
    let link = ScriptedLink(peer, role: role, parameters, scheduler: scheduler)
    links.append(link)
    if role == .central { pendingConnections.remove(peer.address) }
    onEvent?(.connected(link))
    return link
  }

  /// An advertisement is received.
  func hear(
    _ address: DeviceAddress, _ data: [UInt8], isScanResponse: Bool = false, isScannable: Bool = false, rssi: Int = -50,
    isTruncated: Bool = false
  ) {
    onEvent?(
      .report(
        AdvertisingReport(
          address: address, isScanResponse: isScanResponse, isScannable: isScannable, rssi: rssi, data: data,
          isTruncated: isTruncated, time: scheduler.now)))
  }

  /// An advertisement or scan response is received, as the adapter reports it.
  func hear(_ report: AdvertisingReport) { onEvent?(.report(report)) }

  /// The adapter enters another state; its links end before.
  func change(to state: AdapterState) {
    if state != .on {
      for link in links { link.end(reason: 0x16) }
      links = []
    }
    self.state = state
    onEvent?(.stateChanged)
  }
}

/// A tap controlled by a test.
final class ScriptedTap: PacketTap {
  private(set) var isClosed = false
  let onEvent: (TapEvent) -> Void
  /// Packets that have passed and are delivered when the adapter has to catch up.
  var waiting: [MonitorPacket] = []

  init(onEvent: @escaping (TapEvent) -> Void) { self.onEvent = onEvent }

  func catchUp() {
    let passed = waiting
    waiting = []
    for packet in passed { onEvent(.packet(packet, of: 0)) }
  }

  func close() { isClosed = true }
}

extension PairingEvent {
  /// A question with any number.
  static func question(_ question: PairingQuestion) -> PairingEvent { .question(QuestionID(0), question) }
}
