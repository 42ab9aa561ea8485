import BledRPC
import Bluetooth
import Noise
import Testing

@testable import ESPHome

/// Clients connect, are silent, ping, and disconnect.
@Suite struct ProxyClientsTests {
  @Test func whatAClientAsksFirst() throws {
    let stage = ProxyStage()
    let client = try stage.connect()
    stage.send(client, 1, [10, 2, 72, 65, 16, 1, 24, 19])
    #expect(client.stream.take() == [.hello(minor: 19, server: "bled \(Release.version)", name: "kitchen")])
    let device = try #require(stage.proxy.device)
    #expect(device.features.rawValue == 255)
    stage.send(client, 9)
    stage.send(client, 149)
    stage.send(client, 11)
    stage.send(client, 3)
    stage.send(client, 7)
    stage.send(client, 4711)
    #expect(
      client.stream.take() == [
        .deviceInfo(device), .deviceCapabilities(device), .entitiesDone, .authenticated, .pong,
      ])
    stage.send(client, 5)
    #expect(client.stream.take() == [.disconnected])
    #expect(client.stream.isClosed)
  }

  @Test func aMessageBeforeHelloEndsTheConnection() throws {
    let stage = ProxyStage()
    let client = try stage.connect()
    stage.send(client, 9)
    #expect(client.stream.isClosed && client.stream.frames.isEmpty)
    #expect(stage.proxy.counters.malformed == 1)
  }

  @Test func aSilentClientIsLetGo() throws {
    let stage = ProxyStage()
    let silent = try stage.connect()
    stage.advance(by: .seconds(14))
    #expect(!silent.stream.isClosed)
    stage.advance(by: .seconds(1))
    #expect(silent.stream.isClosed)
    #expect(stage.proxy.counters.silent == 1)
  }

  @Test func aClientThatIsQuietIsPinged() throws {
    let stage = ProxyStage()
    let (quiet, alive) = (try stage.greeted(), try stage.greeted())
    for _ in 0..<20 {
      stage.advance(by: .seconds(10))
      stage.send(alive, 8)
    }
    #expect(quiet.stream.take(7).count >= 2)
    #expect(quiet.stream.isClosed)
    #expect(alive.stream.frames.isEmpty && !alive.stream.isClosed)
  }

  @Test func aHundredConnectionsWithoutHelloKeepNobodyOut() throws {
    let stage = ProxyStage()
    let first = try stage.greeted()
    let silent = try (0..<100).map { _ in try stage.connect() }
    #expect(silent.count { !$0.stream.isClosed } == 16)
    #expect(silent.suffix(16).allSatisfy { !$0.stream.isClosed })
    let last = try stage.greeted()
    #expect(!first.stream.isClosed && !last.stream.isClosed)
    #expect(stage.proxy.counters.silent == 85)
  }

  @Test func connectionsFromOnePlaceKeepNobodyElsewhereOut() throws {
    let stage = ProxyStage()
    let client = try stage.connect(from: [10, 0, 0, 2])
    let silent = try (0..<100).map { _ in try stage.connect(from: [10, 0, 0, 1]) }
    #expect(!client.stream.isClosed)
    #expect(silent.suffix(15).allSatisfy { !$0.stream.isClosed } && silent.count { !$0.stream.isClosed } == 15)
    let late = try stage.connect(from: [10, 0, 0, 3])
    #expect(!late.stream.isClosed && !client.stream.isClosed)
    // Each from another place: the newest stay.
    let spread = try (0..<100 as Range<UInt8>).map { try stage.connect(from: [10, 0, 1, $0]) }
    #expect(spread.suffix(14).allSatisfy { !$0.stream.isClosed })
  }

  @Test func aClientWithTheKeyDoesNotGiveWayToThoseWithout() throws {
    let key = [UInt8](repeating: 7, count: 32)
    let stage = ProxyStage(key: key)
    let client = try stage.connect()
    var handshake = try #require(
      Handshake(
        .nnpsk0, as: .initiator, prologue: Array("NoiseAPIInit".utf8) + [0, 0], preSharedKey: key))
    client.client.receive([1, 0, 0] + NoiseFrames.octets([0] + (try handshake.write())))
    for _ in 0..<100 { _ = try stage.connect() }
    #expect(!client.stream.isClosed)
    stage.advance(by: .seconds(15))
    #expect(client.stream.isClosed)
  }

  @Test func clientsBeyondTheLimitAreRefused() throws {
    let stage = ProxyStage()
    let clients = try (0..<16).map { _ in try stage.greeted() }
    let stream = ScriptedStream()
    #expect(stage.proxy.accept(stream) == nil)
    #expect(stream.isClosed)
    #expect(stage.proxy.counters.refused == 1)
    stage.send(clients[0], 5)
    _ = try stage.greeted()
  }

  @Test func aSlowReaderLosesAdvertisementsAndThenItsConnection() throws {
    let stage = ProxyStage()
    let (slow, other) = (try stage.greeted(), try stage.greeted())
    for client in [slow, other] { stage.send(client, 66, [8, 1]) }
    slow.stream.unsent = 100 << 10
    try stage.hear(32)
    #expect(slow.stream.take(93).isEmpty)
    #expect(other.stream.take(93).count == 2)
    #expect(stage.proxy.counters.batchesDropped == 2)
    stage.send(slow, 7)
    #expect(!slow.stream.isClosed)
    slow.stream.unsent = 2 << 20
    stage.send(slow, 7)
    #expect(slow.stream.isClosed)
    #expect(stage.proxy.counters.slow == 1)
  }

  @Test func anAdapterWithoutAnAddressIsAwaited() throws {
    let stage = ProxyStage()
    #expect(stage.readyCount == 1)
    let client = try stage.greeted()
    // Another adapter in its place: clients see another proxy.
    try stage.own().notify(AdapterChanged.self, ProxyStage.adapter(address: nil, state: "absent"))
    stage.settle()
    #expect(stage.proxy.device?.address == "02:00:00:00:00:01")
    try stage.own().notify(AdapterChanged.self, ProxyStage.adapter(address: "02:00:00:00:00:02"))
    stage.settle()
    #expect(client.stream.take() == [.disconnect])
    #expect(client.stream.isClosed)
    #expect(stage.proxy.device?.address == "02:00:00:00:00:02")
    #expect(stage.readyCount == 2)
  }

  @Test func bledIsBackWithTheSameAdapter() throws {
    let stage = ProxyStage()
    let client = try stage.greeted()
    for count in 2...3 {
      try stage.own().end()
      stage.settle()
      #expect(stage.readyCount == count - 1)
      stage.advance(by: .seconds(1))
      #expect(stage.readyCount == count)
    }
    // Clients know this proxy.
    #expect(!client.stream.isClosed)
    // Another state of the adapter is no news.
    try stage.own().notify(AdapterChanged.self, ProxyStage.adapter(state: "off"))
    stage.settle()
    #expect(stage.readyCount == 3)
  }
}

/// The abilities follow bled's policy.
@Suite struct ProxyFeaturesTests {
  @Test func permissions() {
    let cases: [([Word<Permission>], UInt32)] = [
      (["scan", "connect", "pair"], 255), (["scan", "connect"], 247), (["scan"], 97), (["pair"], 0),
    ]
    for (words, features) in cases {
      let opened = SessionOpen.Result(session: 1, daemon: "bled", protocol: 1, adapters: [], permissions: words)
      #expect(ProxyFeatures(opened).rawValue == features)
    }
  }
}
