import Adapter
import BledConnection
import BledRPC
import Bluetooth
import SessionTestSupport
import Testing

@testable import ESPHome

/// A proxy between clients and bled, both played by the test.
final class ProxyStage {
  static let device: UInt64 = 0xC0DE_0000_0004
  static let peripheral = "CC17"

  let daemon = ScriptedDaemon()
  let clock = VirtualScheduler()
  let proxy: Proxy
  private(set) var readyCount = 0
  /// The events of the connection that the proxy opens.
  private(set) var outgoing: [String] = []
  /// The calls of all sessions: methods and messages.
  private(set) var calls: [(method: String, message: RPCMessage)] = []
  /// Answers of bled that differ from the usual ones.
  var answer: (String, RPCMessage) -> ScriptedDaemon.Answer? = { _, _ in nil }

  init(connections: Int = 2, key: [UInt8]? = nil, connectsOut: Bool = false) {
    daemon.adapters = [Self.adapter()]
    proxy = Proxy(
      Proxy.Settings(
        name: "kitchen", friendlyName: "Kitchen", key: key, connections: connections, connectsOut: connectsOut),
      daemon, clock)
    proxy.whenReady = { [unowned self] _ in readyCount += 1 }
    proxy.whenConnecting = { [unowned self] in outgoing.append("connect") }
    proxy.whenCancelled = { [unowned self] in outgoing.append("cancel") }
    proxy.whenOutgoing = { [unowned self] in outgoing.append("\($0)") }
    daemon.answer = { [unowned self] method, message, _ in
      calls.append((method, message))
      return answer(method, message) ?? usual(method)
    }
    proxy.start()
    settle()
  }

  static func adapter(address: String? = "02:00:00:00:00:01", state: Word<AdapterCondition> = "on")
    -> AdapterDescription
  {
    AdapterDescription(
      adapter: "hci0", kind: "simulated", address: address, addressType: "public", name: "here", state: state,
      problem: nil, scanning: false, advertising: 0, links: 0)
  }

  static let services = [
    ServiceDescription(
      handle: 1, end: 9, uuid: 0x180D, primary: true,
      characteristics: [
        CharacteristicDescription(
          handle: 3, end: 4, uuid: 0x2A37, properties: ["notify"],
          descriptors: [DescriptorDescription(handle: 4, uuid: 0x2902)])
      ])
  ]

  private func usual(_ method: String) -> ScriptedDaemon.Answer? {
    switch method {
    case PeripheralConnect.name:
      .success(
        PeripheralConnect.Result(
          peripheral: Self.peripheral, address: "C0:DE:00:00:00:04", addressType: "random", adapter: "hci0", mtu: 247,
          attempts: 1))
    case GATTDiscover.name: .success(GATTServices(services: Self.services))
    case GATTRead.name: .success(GATTRead.Result(value: HexBytes([1, 2])))
    case GATTWrite.name, GATTSubscribe.name, GATTUnsubscribe.name: .success(AttributeFound())
    default: nil
    }
  }

  /// Gives out all messages and answers.
  func settle() {
    repeat { clock.advance(by: .zero) } while daemon.deliver()
  }

  func advance(by duration: Duration) {
    clock.advance(by: duration)
    settle()
  }

  /// The params of the calls of a method.
  func params<Method: ClientCall>(_: Method.Type) throws -> [Method.Params] {
    try calls.filter { $0.method == Method.name }.map { try $0.message.params(Method.Params.self) }
  }

  // MARK: Clients

  struct Client {
    let stream: ScriptedStream
    let client: ProxyClient
  }

  func connect(from origin: [UInt8] = [127, 0, 0, 1]) throws -> Client {
    let stream = ScriptedStream(from: origin)
    return Client(stream: stream, client: try #require(proxy.accept(stream)))
  }

  /// A client that has said hello.
  func greeted(minor: UInt32 = 15) throws -> Client {
    let client = try connect()
    send(client, 1, [10, 2, 72, 65, 16, 1, 24, UInt8(minor)])
    #expect(client.stream.take().map(\.type) == [2])
    return client
  }

  /// A client that is connected to the device.
  func linked() throws -> Client {
    let client = try greeted()
    request(client, 68) {
      $0.number(2, 4 as UInt32)
      $0.flag(3, true)
      $0.number(4, 1 as UInt32)
    }
    #expect(client.stream.take() == [.connected(Self.device, mtu: 247)])
    return client
  }

  func send(_ client: Client, _ type: UInt32, _ payload: [UInt8] = []) {
    client.client.receive(PlainFrames.octets(APIFrame(type: type, payload: payload)))
    settle()
  }

  /// Sends a request about the device.
  func request(_ client: Client, _ type: UInt32, _ write: (inout ProtobufWriter) -> Void = { _ in }) {
    var writer = ProtobufWriter()
    writer.number(1, Self.device)
    write(&writer)
    send(client, type, writer.octets)
  }

  /// The session of bled that has a scan.
  func own() throws -> ScriptedDaemon.Session {
    try #require(daemon.sessions.last { $0.name == "Home Assistant proxy" && !$0.isClosed })
  }

  /// The newest session of a client.
  func session() throws -> ScriptedDaemon.Session {
    try #require(daemon.sessions.last { $0.name.hasPrefix("Home Assistant proxy for") })
  }

  /// bled reports advertisements.
  func hear(_ count: Int) throws {
    for _ in 0..<count {
      var report = ScanReport.Params(
        peripheral: Self.peripheral, adapter: "hci0", address: "C0:DE:00:00:00:04", addressType: "random",
        connectable: true, data: HexBytes([2, 1, 6]), time: 0)
      report.rssi = -62
      report.scanResponse = HexBytes([2, 10, 4])
      try own().notify(ScanReport.self, report)
    }
    settle()
  }
}
