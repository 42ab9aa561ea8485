import BledClient
import BluetoothCrypto
import Foundation
import TestSupport
import Testing

@testable import NearbySessions

/// Peers on one daemon, each with a simulated adapter of its own.
@Suite(.timeLimit(.minutes(10))) struct NearbyNodeTests {
  private struct Missing: Error {}

  /// - Parameter resumption: the time for a lost link; the usual one where the test waits for its end.
  private static func node(
    _ daemon: Daemon, _ name: String, adapter: Int, resumption: Duration = .seconds(10)
  ) async throws -> NearbyNode {
    var settings = NearbySettings(type: .files, name: name)
    settings.adapter = adapter == 0 ? "simulated" : "simulated\(adapter)"
    settings.information = ["a": name]
    settings.resumption = resumption
    return try NearbyNode(client: try await daemon.client(), settings: settings)
  }

  private static func find(_ name: String, by node: NearbyNode) async throws -> FoundPeer {
    for try await case .found(let peer) in try await node.browse() where peer.name == name { return peer }
    throw Missing()
  }

  /// Two nodes with a session, from both sides.
  private static func connect(
    _ alice: NearbyNode, _ bob: NearbyNode
  ) async throws -> (alice: NearbyConnection, bob: NearbyConnection) {
    try await bob.advertise()
    let peer = try await find("Bob", by: alice)
    async let answered = { () async throws -> NearbyConnection in
      for await invitation in bob.invitations {
        #expect(invitation.context == [1, 2, 3] && invitation.connection.name == "Alice")
        #expect(await invitation.answer(true))
        #expect(await !invitation.answer(true))
        return invitation.connection
      }
      throw Missing()
    }()
    let connection = try await alice.invite(peer, context: [1, 2, 3])
    return (connection, try await answered)
  }

  @Test("two peers find each other, have the same code, and send messages, streams and resources both ways")
  func session() async throws {
    let daemon = try await Daemon(adapters: 2)
    let alice = try await Self.node(daemon, "Alice", adapter: 0)
    let bob = try await Self.node(daemon, "Bob", adapter: 1)
    let ends = try await Self.connect(alice, bob)
    #expect(ends.alice.code == ends.bob.code && ends.alice.key != ends.bob.key)
    for (from, to) in [(ends.alice, ends.bob), (ends.bob, ends.alice)] {
      for number in 0..<100 as Range<UInt8> { try await from.send([number]) }
      for number in 0..<100 as Range<UInt8> {
        guard case .message([number])? = await to.next() else { throw Missing() }
      }
      let octets = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }
      let stream = try await from.openStream("numbers")
      guard case .stream(let incoming, "numbers")? = await to.next() else { throw Missing() }
      async let isWritten = stream.write(octets)
      var received: [UInt8] = []
      while received.count < octets.count, let more = await incoming.read() { received += more }
      #expect(await isWritten && received == octets)
      await stream.close()
      #expect(await incoming.read() == nil)
      #expect(await incoming.ended() == .finished)
    }
    await ends.alice.disconnect()
    while let event = await ends.bob.next() {
      guard case .ended(let end) = event else { continue }
      #expect(end == .byPeer)
    }
    await alice.stop()
    await bob.stop()
  }

  @Test("an invitation can be declined, and a peer that stops to advertise is not invited")
  func declined() async throws {
    let daemon = try await Daemon(adapters: 2)
    let alice = try await Self.node(daemon, "Alice", adapter: 0)
    let bob = try await Self.node(daemon, "Bob", adapter: 1)
    try await bob.advertise()
    let peer = try await Self.find("Bob", by: alice)
    #expect(peer.information == ["a": "Bob"])
    async let answered = { () async -> Bool in
      for await invitation in bob.invitations { return await invitation.answer(false) }
      return true
    }()
    await #expect(throws: BluetoothError.self) { try await alice.invite(peer) }
    #expect(await !answered)
  }

  @Test("a link that is lost comes back without loss or repetition")
  func resumed() async throws {
    let daemon = try await Daemon(adapters: 2)
    let alice = try await Self.node(daemon, "Alice", adapter: 0, resumption: .seconds(Patience.seconds))
    let bob = try await Self.node(daemon, "Bob", adapter: 1, resumption: .seconds(Patience.seconds))
    let ends = try await Self.connect(alice, bob)
    let other = try await daemon.client()
    for round in 0..<3 as Range<UInt8> {
      for number in 0..<20 as Range<UInt8> {
        try await ends.alice.send([round, number])
        try await ends.bob.send([round, number])
        if number == 10 {
          _ = try await other.call(AdapterPower.self, .init(adapter: "simulated1", on: false))
          _ = try await other.call(AdapterPower.self, .init(adapter: "simulated1", on: true))
        }
      }
      for end in [ends.alice, ends.bob] {
        for number in 0..<20 as Range<UInt8> {
          while let event = await end.next() {
            if case .message(let message) = event {
              #expect(message == [round, number])
              break
            }
            if case .ended = event { throw Missing() }
          }
        }
      }
    }
  }

  @Test("a link that stays away ends the session, once, on both sides")
  func lost() async throws {
    let daemon = try await Daemon(adapters: 2)
    let alice = try await Self.node(daemon, "Alice", adapter: 0)
    let bob = try await Self.node(daemon, "Bob", adapter: 1)
    let ends = try await Self.connect(alice, bob)
    let other = try await daemon.client()
    _ = try await other.call(AdapterPower.self, .init(adapter: "simulated1", on: false))
    for end in [ends.alice, ends.bob] {
      var last: NearbyEvent?
      var count = 0
      while let event = await end.next() {
        last = event
        if case .ended = event { count += 1 }
      }
      guard case .ended(.linkLost)? = last else { throw Missing() }
      #expect(count == 1)
    }
  }

  @Test("a file arrives whole under its name, and a partial one is continued")
  func files() async throws {
    let daemon = try await Daemon(adapters: 2)
    let alice = try await Self.node(daemon, "Alice", adapter: 0)
    let bob = try await Self.node(daemon, "Bob", adapter: 1)
    let ends = try await Self.connect(alice, bob)
    let octets = Data((0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 17 &+ $0 >> 8) })
    let source = daemon.folder.appendingPathComponent("source.bin")
    try octets.write(to: source)
    let folder = daemon.folder.appendingPathComponent("in")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try Data("mine".utf8).write(to: folder.appendingPathComponent("source.bin"))
    let file = FileResource(path: source.path)
    let offer = try file.offer()
    #expect(offer.size == 200_000 && offer.name == "source.bin" && offer.hash == SHA256.hash(octets))
    let partial = folder.appendingPathComponent(".\(Hex.encode(offer.hash)).part")
    try octets.prefix(150_000).write(to: partial)
    let flow = try await ends.alice.offer(offer)
    async let sent = file.send(offer, over: flow)
    guard case .resource(let incoming, let offered)? = await ends.bob.next() else { throw Missing() }
    #expect(offered == offer)
    let result = try await FileResource.receive(offered, from: incoming, into: folder.path)
    #expect(try await sent == .finished && result.end == .finished)
    #expect(result.path == folder.appendingPathComponent("source (2).bin").path)
    #expect(try Data(contentsOf: folder.appendingPathComponent("source (2).bin")) == octets)
    #expect(try Data(contentsOf: folder.appendingPathComponent("source.bin")) == Data("mine".utf8))
    #expect(!FileManager.default.fileExists(atPath: partial.path))
  }

  @Test("a peer in Python, written from the page about the protocol, takes part")
  func python() async throws {
    let daemon = try await Daemon(adapters: 2)
    let package = #filePath.split(separator: "/").dropLast(3).map { "/\($0)" }.joined()
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/python3")
    process.arguments = ["\(package)/Examples/python/nearby.py", "simulated1"]
    process.environment = ProcessInfo.processInfo.environment.merging([
      "BLED_SOCKET": daemon.socket, "PYTHONPATH": "\(package)/python/src", "PYTHONDONTWRITEBYTECODE": "1",
    ]) { $1 }
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    defer { process.terminate() }
    var settings = NearbySettings(type: try #require(ServiceType("bled-echo")), name: "Alice")
    settings.adapter = "simulated"
    let node = try NearbyNode(client: try await daemon.client(), settings: settings)
    let connection = try await node.invite(try await Self.find("Python", by: node), context: Array("Hi".utf8))
    for message in [[1, 2, 3], [], Array(repeating: 7, count: 100_000)] as [[UInt8]] {
      try await connection.send(message)
      guard case .message(message)? = await connection.next() else { throw Missing() }
    }
    await connection.disconnect()
    let text = await onThread { try? output.fileHandleForReading.readToEnd() }.map {
      String(decoding: $0, as: UTF8.self)
    }
    #expect(text == "'Alice': code \(connection.code)\ninvited with b'Hi'\n")
  }
}
