import BledRPC
import Bluetooth
import Noise
import Testing

@testable import ESPHome

/// The proxy connects to Home Assistant, played by the test.
@Suite struct OutgoingConnectionTests {
  private static let key = [UInt8](repeating: 7, count: 32)
  private let stage = ProxyStage(key: key, connectsOut: true)

  /// Home Assistant at the other end of a connection, which has shown the key.
  private struct Peer {
    let stream: OctetStream
    let client: ProxyClient
    var transport: Handshake.Transport

    mutating func send(_ frame: APIFrame) throws {
      client.receive(NoiseFrames.octets(try transport.sending.encrypt(try #require(NoiseFrames.body(frame)))))
    }

    mutating func receive() throws -> APIFrame {
      let octets = stream.take()
      return try NoiseFrames.message(try transport.receiving.decrypt(Array(octets.dropFirst(3))))
    }
  }

  private final class OctetStream: ClientStream {
    let origin: [UInt8] = [10, 0, 0, 1]
    let unsent = 0
    private(set) var octets: [UInt8] = []
    private(set) var isClosed = false

    func send(_ octets: [UInt8]) { self.octets += octets }
    func close() { isClosed = true }

    func take() -> [UInt8] {
      defer { octets = [] }
      return octets
    }
  }

  /// - Parameter isOutgoing: true if the proxy has connected.
  private func peer(isOutgoing: Bool) throws -> Peer {
    let stream = OctetStream()
    let client = try #require(isOutgoing ? stage.proxy.opened(stream) : stage.proxy.accept(stream))
    let hello = NoiseFrames.octets([1] + Array("kitchen\0020000000001\0".utf8))
    // The key is chosen by the hello, before anything is sent.
    #expect(stream.take() == (isOutgoing ? hello : []))
    var handshake = try #require(
      Handshake(.nnpsk0, as: .initiator, prologue: Array("NoiseAPIInit".utf8) + [0, 0], preSharedKey: Self.key))
    client.receive([1, 0, 0] + NoiseFrames.octets([0] + (try handshake.write())))
    let answer = isOutgoing ? stream.take() : Array(stream.take().dropFirst(hello.count))
    _ = try handshake.read(answer.dropFirst(4))
    return Peer(stream: stream, client: client, transport: try #require(handshake.transport))
  }

  private static let hello = APIFrame(type: 1, payload: [10, 2, 72, 65, 16, 1, 24, 19])
  private static let targetsHello = APIFrame(type: 1, payload: [10, 2, 72, 65, 16, 1, 24, 19, 32, 1])

  @Test("The proxy says its name first, and is then a proxy like any other")
  func servedByTheOutgoingConnection() throws {
    #expect(stage.outgoing == ["connect"])
    var home = try peer(isOutgoing: true)
    try home.send(Self.hello)
    #expect(try home.receive().type == 2)
    #expect(stage.outgoing == ["connect", "connected"])
    try home.send(APIFrame(type: 9))
    let device = try #require(stage.proxy.device)
    #expect(try home.receive() == .deviceInfo(device))
    #expect(device.connectsOut)
    // The next attempt comes 4 to 6 s after the end.
    home.client.ended()
    stage.advance(by: .milliseconds(3999))
    #expect(stage.outgoing.count == 2)
    stage.advance(by: .milliseconds(2001))
    #expect(stage.outgoing == ["connect", "connected", "connect"])
  }

  @Test("Nothing is opened while Home Assistant has connected itself")
  func homeAssistantConnects() throws {
    var home = try peer(isOutgoing: false)
    try home.send(Self.hello)
    #expect(stage.outgoing == ["connect"])
    home.client.ended()
    // The first one was no target: the attempt has continued.
    home = try peer(isOutgoing: false)
    try home.send(Self.targetsHello)
    #expect(stage.outgoing == ["connect", "cancel", "connected"])
    stage.proxy.openFailed()
    stage.advance(by: .seconds(60))
    #expect(stage.outgoing.count == 3)
    home.client.ended()
    #expect(stage.outgoing.last == "connect")
  }

  @Test("Attempts that end early are repeated, more and more seldom")
  func refused() throws {
    for pause in [5.0, 10, 20] {
      try #require(stage.proxy.opened(OctetStream())).ended()
      #expect(stage.outgoing.suffix(2) == ["connect", "refused"])
      stage.advance(by: .seconds(pause * 0.79))
      #expect(stage.outgoing.last == "refused")
      stage.advance(by: .seconds(pause * 0.42))
      #expect(stage.outgoing.last == "connect")
    }
    stage.proxy.openFailed()
    stage.advance(by: .seconds(31))
    #expect(stage.outgoing.count == 7)
    stage.advance(by: .seconds(17))
    #expect(stage.outgoing.count >= 8)
    stage.advance(by: .seconds(10))
    #expect(stage.outgoing[7...].starts(with: ["connect", "cancel", "timeout"]))
  }

  @Test("A silent connection of the proxy itself does not give way to strangers")
  func strangers() throws {
    let stream = OctetStream()
    _ = try #require(stage.proxy.opened(stream))
    for _ in 0..<100 { _ = try stage.connect() }
    #expect(!stream.isClosed)
    stage.advance(by: .seconds(15))
    #expect(stream.isClosed)
    // Nobody has refused it.
    #expect(stage.outgoing == ["connect", "timeout"])
  }

  @Test("Only Home Assistant's end of a connection, or its other key, is a refusal")
  func causes() throws {
    _ = try #require(stage.proxy.opened(OctetStream()))
    try stage.own().notify(AdapterChanged.self, ProxyStage.adapter(address: "02:00:00:00:00:02"))
    stage.settle()
    #expect(stage.outgoing == ["connect"])
    stage.advance(by: .seconds(6))
    #expect(stage.outgoing == ["connect", "connect"])
    let client = try #require(stage.proxy.opened(OctetStream()))
    var handshake = try #require(
      Handshake(
        .nnpsk0, as: .initiator, prologue: Array("NoiseAPIInit".utf8) + [0, 0],
        preSharedKey: [UInt8](repeating: 8, count: 32)))
    client.receive([1, 0, 0] + NoiseFrames.octets([0] + (try handshake.write())))
    #expect(stage.proxy.counters.wrongKeys == 1)
    #expect(stage.outgoing == ["connect", "connect", "refused"])
  }

  @Test("The end of the proxy ends the attempts")
  func close() {
    stage.proxy.close()
    #expect(stage.outgoing == ["connect", "cancel"])
    stage.advance(by: .seconds(600))
    #expect(stage.outgoing.count == 2)
  }

  @Test("The end of the proxy is no refusal of Home Assistant")
  func closeWhileOpen() throws {
    let stream = OctetStream()
    _ = try #require(stage.proxy.opened(stream))
    stage.proxy.close()
    #expect(stream.isClosed)
    #expect(stage.outgoing == ["connect"])
  }
}
