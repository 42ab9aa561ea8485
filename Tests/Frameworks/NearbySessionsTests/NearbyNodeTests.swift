import BledClient
import BluetoothCrypto
import Foundation
import TestSupport
import Testing

@testable import NearbySessions

/// Peers on one daemon, each with an adapter of its own.
@Suite(.timeLimit(.minutes(10))) struct NearbyNodeTests {
  @Test("two peers find each other, have the same code, and send messages, streams and resources both ways")
  func session() async throws {
    let (daemon, alice, bob) = try await Nodes.pair()
    defer { withExtendedLifetime(daemon) {} }
    let ends = try await Nodes.connect(alice, bob)
    #expect(ends.alice.code == ends.bob.code && ends.alice.key != ends.bob.key)
    for (from, to) in [(ends.alice, ends.bob), (ends.bob, ends.alice)] {
      for number in 0..<100 as Range<UInt8> { try await from.send([number]) }
      for number in 0..<100 as Range<UInt8> {
        guard case .message([number])? = await to.next() else { throw Nodes.Missing() }
      }
      let octets = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }
      let stream = try await from.openStream("numbers")
      guard case .stream(let incoming, "numbers")? = await to.next() else { throw Nodes.Missing() }
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
    let (daemon, alice, bob) = try await Nodes.pair()
    defer { withExtendedLifetime(daemon) {} }
    try await bob.advertise()
    let peer = try await Nodes.find("Bob", by: alice)
    #expect(peer.information == ["a": "Bob"])
    async let answered = { () async -> Bool in
      for await invitation in bob.invitations { return await invitation.answer(false) }
      return true
    }()
    await #expect(throws: BluetoothError.self) { try await alice.invite(peer) }
    #expect(await !answered)
  }

  @Test("a peer is invited once at a time")
  func invitedTwice() async throws {
    let (daemon, alice, bob) = try await Nodes.pair()
    defer { withExtendedLifetime(daemon) {} }
    try await bob.advertise()
    let peer = try await Nodes.find("Bob", by: alice)
    let answering = Task { () -> NearbyConnection? in
      for await invitation in bob.invitations {
        await invitation.answer(true)
        return invitation.connection
      }
      return nil
    }
    let results = await withTaskGroup(of: Result<NearbyConnection, BluetoothError>.self) { group in
      for _ in 0..<2 {
        group.addTask {
          do throws(BluetoothError) {
            return .success(try await alice.invite(peer))
          } catch {
            return .failure(error)
          }
        }
      }
      return await group.reduce(into: [Result<NearbyConnection, BluetoothError>]()) { $0.append($1) }
    }
    let errors = results.compactMap { if case .failure(let error) = $0 { error.code } else { nil } }
    #expect(errors == [BledError.alreadyInProgress.error("").code])
    for case .success(let connection) in results {
      try await connection.send([1])
      guard case .message([1])? = await answering.value?.next() else { throw Nodes.Missing() }
    }
  }

  @Test("an invitation of a stranger who has taken the identifier of an invited peer is left to the program")
  func stranger() async throws {
    let daemon = try await Daemon(adapters: 3)
    let alice = try await Nodes.node(daemon, "Alice", adapter: 0, identifier: 9)
    let bob = try await Nodes.node(daemon, "Bob", adapter: 1, identifier: 5)
    let mallory = try await Nodes.node(daemon, "Mallory", adapter: 2, identifier: 5)
    try await alice.advertise()
    try await bob.advertise()
    let (toBob, toAlice) = (try await Nodes.find("Bob", by: alice), try await Nodes.find("Alice", by: mallory))
    let invited = Nodes.invite(toBob, by: alice)
    let fromAlice = try await Nodes.invitation(to: bob, by: invited)
    let taken = Nodes.invite(toAlice, by: mallory)
    let fromMallory = try await Nodes.invitation(to: alice, by: taken)
    #expect(fromMallory.connection.name == "Mallory")
    await fromMallory.answer(false)
    await #expect(throws: BluetoothError.self) { try await taken.value }
    #expect(await fromAlice.answer(true))
    #expect(try await invited.value.key == bob.settings.key.publicKey)
  }

  @Test("a stranger who is invited does not take the place of another invited peer, whose identifier it uses elsewhere")
  func strangerWithTwoIdentifiers() async throws {
    let daemon = try await Daemon(adapters: 4)
    let alice = try await Nodes.node(daemon, "Alice", adapter: 0, identifier: 9)
    let bob = try await Nodes.node(daemon, "Bob", adapter: 1, identifier: 5)
    let mallory = try await Nodes.node(daemon, "Mallory", adapter: 2, identifier: 6)
    let disguised = try await Nodes.node(
      daemon, "Mallory as Bob", adapter: 3, identifier: 5, key: mallory.settings.key)
    for node in [alice, bob, mallory] { try await node.advertise() }
    let (toBob, toMallory) = (try await Nodes.find("Bob", by: alice), try await Nodes.find("Mallory", by: alice))
    let toAlice = try await Nodes.find("Alice", by: disguised)
    let invited = Nodes.invite(toBob, by: alice)
    let fromAlice = try await Nodes.invitation(to: bob, by: invited)
    let taken = Nodes.invite(toAlice, by: disguised)
    let fromDisguised = try await Nodes.invitation(to: alice, by: taken)
    #expect(fromDisguised.connection.name == "Mallory as Bob")
    let other = Nodes.invite(toMallory, by: alice)
    let toStranger = try await Nodes.invitation(to: mallory, by: other)
    #expect(await fromAlice.answer(true))
    #expect(try await invited.value.key == bob.settings.key.publicKey)
    for refused in [fromDisguised, toStranger] { await refused.answer(false) }
    for refused in [taken, other] {
      await #expect(throws: BluetoothError.self) { try await refused.value }
    }
  }

  @Test("the end of a node ends its invitation, also while the device is being connected")
  func stoppedWhileDialing() async throws {
    let (daemon, alice, bob) = try await Nodes.pair()
    try await bob.advertise()
    let peer = try await Nodes.find("Bob", by: alice)
    let other = try await daemon.client()
    _ = try await other.call(AdapterPower.self, .init(adapter: daemon.adapter(1), on: false))
    let invited = Task { () async -> BluetoothError? in
      do throws(BluetoothError) {
        _ = try await alice.invite(peer)
        return nil
      } catch {
        return error
      }
    }
    try await until { await alice.links.devices.isChanging(peer.peripheral) }
    await alice.stop()
    #expect(await alice.links.devices.isEmpty)
    #expect(await alice.hasNoPeers)
    #expect(await invited.value?.code == GAPError.cancelled.rawValue)
    await #expect(throws: BluetoothError.self) { try await alice.invite(peer) }
  }

  @Test("a peer that does not read cannot hold a session that was ended, nor the end of the node")
  func deafPeer() async throws {
    let (daemon, alice, bob) = try await Nodes.pair()
    defer { withExtendedLifetime(daemon) {} }
    let ends = try await Nodes.connect(alice, bob)
    let message = [UInt8](repeating: 1, count: 1 << 16)
    // Bob fetches nothing: the messages fill his queue, the channel, and then Alice's queue.
    var refusals = 0
    try await until {
      refusals = (try? await ends.alice.send(message)) == nil ? refusals + 1 : 0
      return refusals == 50
    }
    await ends.alice.disconnect()
    while let event = await ends.alice.next() { if case .ended = event { break } }
    await alice.stop()
    #expect(await alice.hasNoPeers)
  }

  @Test("a node advertises no longer for a session that has ended, also while its last events are not fetched")
  func advertisesNoLonger() async throws {
    let (daemon, alice, bob) = try await Nodes.pair()
    defer { withExtendedLifetime(daemon) {} }
    let ends = try await Nodes.connect(alice, bob)
    await bob.stopAdvertising()
    #expect(await bob.advertiser.advertisement != nil, "Alice may have to find Bob again")
    await ends.alice.disconnect()
    try await until { await bob.advertiser.advertisement == nil }
    while let event = await ends.bob.next() { if case .ended = event { return } }
    Issue.record("the end is lost")
  }

  @Test("a link that is lost comes back without loss or repetition")
  func resumed() async throws {
    let (daemon, alice, bob) = try await Nodes.pair()
    let ends = try await Nodes.connect(alice, bob)
    let other = try await daemon.client()
    for round in 0..<3 as Range<UInt8> {
      for number in 0..<20 as Range<UInt8> {
        try await ends.alice.send([round, number])
        try await ends.bob.send([round, number])
        if number == 10 {
          _ = try await other.call(AdapterPower.self, .init(adapter: daemon.adapter(1), on: false))
          _ = try await other.call(AdapterPower.self, .init(adapter: daemon.adapter(1), on: true))
        }
      }
      for end in [ends.alice, ends.bob] {
        for number in 0..<20 as Range<UInt8> {
          while let event = await end.next() {
            if case .message(let message) = event {
              #expect(message == [round, number])
              break
            }
            if case .ended = event { throw Nodes.Missing() }
          }
        }
      }
    }
  }

  @Test("a link that stays away ends the session, once, on both sides")
  func lost() async throws {
    let clock = HeldClock()
    let (daemon, alice, bob) = try await Nodes.pair(clock: clock)
    defer { withExtendedLifetime(daemon) {} }
    let ends = try await Nodes.connect(alice, bob)
    let other = try await daemon.client()
    _ = try await other.call(AdapterPower.self, .init(adapter: daemon.adapter(1), on: false))
    try await clock.advance {
      let (hasAlice, hasBob) = (await alice.connectedCount == 1, await bob.connectedCount == 1)
      return !hasAlice && !hasBob
    }
    for end in [ends.alice, ends.bob] {
      var last: NearbyEvent?
      var count = 0
      while let event = await end.next() {
        last = event
        if case .ended = event { count += 1 }
      }
      guard case .ended(.linkLost)? = last else { throw Nodes.Missing() }
      #expect(count == 1)
    }
  }

  @Test("the end of a flow that was opened long before the others can still be asked for")
  func oldFlow() async throws {
    let (daemon, alice, bob) = try await Nodes.pair()
    defer { withExtendedLifetime(daemon) {} }
    let ends = try await Nodes.connect(alice, bob)
    let old = try await ends.alice.openStream("old")
    for number in 0..<70 { try await ends.alice.openStream("\(number)").close() }
    await old.close()
    #expect(await old.ended() == .finished)
  }

  @Test("a file arrives whole under its name, and a partial one is continued")
  func files() async throws {
    let (daemon, alice, bob) = try await Nodes.pair()
    defer { withExtendedLifetime(daemon) {} }
    let ends = try await Nodes.connect(alice, bob)
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
    guard case .resource(let incoming, let offered)? = await ends.bob.next() else { throw Nodes.Missing() }
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
    let package = #filePath.split(separator: "/").dropLast(4).map { "/\($0)" }.joined()
    let output = daemon.folder.appendingPathComponent("output").path
    let peer = try RunningProgram(
      "/usr/bin/python3", ["\(package)/Examples/python/nearby.py", daemon.adapter(1)],
      environment: [
        "BLED_SOCKET": daemon.socket, "PYTHONPATH": "\(package)/python/src", "PYTHONDONTWRITEBYTECODE": "1",
      ], output: output)
    var settings = NearbySettings(type: try #require(ServiceType("bled-echo")), name: "Alice")
    settings.adapter = daemon.adapter(0)
    let node = try NearbyNode(client: try await daemon.client(), settings: settings)
    let connection = try await node.invite(try await Nodes.find("Python", by: node), context: Array("Hi".utf8))
    for message in [[1, 2, 3], [], Array(repeating: 7, count: 100_000)] as [[UInt8]] {
      try await connection.send(message)
      guard case .message(message)? = await connection.next() else { throw Nodes.Missing() }
    }
    await connection.disconnect()
    try await until { !peer.isRunning }
    let text = try String(contentsOfFile: output, encoding: .utf8)
    #expect(text == "'Alice': code \(connection.code)\ninvited with b'Hi'\n")
  }
}
