import BledClient
import TestSupport
import Testing

@testable import NearbySessions

/// The texts of a node's description.
@Suite(.timeLimit(.minutes(10))) struct PublishedTextsTests {
  @Test("equal texts are no change, and others are announced by another revision")
  func revision() {
    var texts = PublishedTexts(["a": "1"])
    let first = texts.revision
    var areNew = [texts.set(["a": "1"])]
    #expect(texts.revision == first)
    areNew.append(texts.set(["a": "2"]))
    #expect(areNew == [false, true])
    #expect(texts.information == ["a": "2"] && texts.revision == first &+ 1)
  }

  @Test("a call that is cancelled before its turn has none, and leaves nothing to recall")
  func cancelled() {
    var texts = PublishedTexts([:])
    texts.begin(1)
    texts.cancel(1)
    let hasTurn = texts.claim(1)
    let recalled = texts.recall(1)
    #expect(!hasTurn && recalled == nil)
  }

  @Test("a call cancelled after its turn has the settled texts back, unless a later call had its turn")
  func recalled() {
    var texts = PublishedTexts(["a": "1"])
    for call in 1...2 { texts.begin(call) }
    let claims = [texts.claim(1), texts.claim(1)]
    #expect(claims == [true, false])
    let first = [texts.recall(1), texts.recall(1)]
    #expect(first == [["a": "1"], nil])
    let hasTurn = texts.claim(2)
    #expect(hasTurn)
    texts.settle(["a": "2"])
    texts.begin(3)
    _ = texts.claim(3)
    let last = [texts.recall(2), texts.recall(3)]
    #expect(last == [nil, ["a": "2"]])
  }

  @Test("texts that could not be published are published by the next call, with the same texts or none")
  func failed() async throws {
    for texts in [["b": "2"], nil] { try await fail(next: texts) }
  }

  /// Lets the publication of other texts fail, since all places for services are taken meanwhile.
  private func fail(next texts: [String: String]?) async throws {
    let daemon = try await Daemon(adapters: 2)
    let slow = try await SlowDaemon(daemon)
    let client = try await BledClient.connect(to: slow.path)
    var settings = NearbySettings(type: .files, name: "Bob")
    settings.adapter = daemon.adapter(1)
    settings.clock = HeldClock()
    let bob = try NearbyNode(client: client, settings: settings)
    try await bob.advertise()
    slow.hold(from: 1)
    let change = Task { try await bob.advertise(["b": "2"]) }
    try await until { slow.isHolding }
    let service = ServiceToPublish(uuid: 0x180F, adapter: daemon.adapter(1))
    let others = (0..<Self.places).map { _ in Task { try await client.publish(service) } }
    let observer = try await daemon.client()
    try await until {
      try await observer.call(SessionList.self, .init()).sessions.contains { $0.services.count == Self.places }
    }
    slow.release()
    await #expect(throws: BluetoothError.self) { try await change.value }
    for other in others { try await client.unpublish(try await other.value.handle) }

    try await bob.advertise(texts)
    let peer = try await Nodes.find("Bob", by: try await Nodes.node(daemon, "Alice", adapter: 0))
    #expect(peer.information == ["b": "2"])
    await bob.stop()
  }

  /// The services that a session may publish.
  private static let places = 64
}
