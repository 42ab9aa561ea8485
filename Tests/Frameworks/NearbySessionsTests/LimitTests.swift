import BledClient
import Glibc
import Synchronization
import Testing

@testable import NearbySessions

/// The time for searches, dialling and handshakes.
@Suite(.timeLimit(.minutes(10))) struct LimitTests {
  private static let late = GAPError.connectionFailed.error("too late")

  @Test("a task whose time is over is cancelled, and its error says so; one that ends in time is not")
  func result() async throws {
    let slow = Self.untilCancelled()
    let error = await #expect(throws: BluetoothError.self) {
      // Real time: the task never ends, so any limit is right.
      try await slow.result(within: .milliseconds(1), on: ContinuousClock(), or: Self.late)
    }
    #expect(error == Self.late)
    #expect(slow.isCancelled)
    let quick = Task { () async -> Result<Int, BluetoothError> in .success(7) }
    #expect(try await quick.result(within: .seconds(1), on: HeldClock(), or: Self.late) == 7)
  }

  @Test("a wait for a task that is cancelled itself ends with the task's own error")
  func cancelled() async throws {
    let slow = Self.untilCancelled()
    let wait = Task { () async -> BluetoothError? in
      do throws(BluetoothError) {
        _ = try await slow.result(within: .seconds(1), on: HeldClock(), or: Self.late)
        return nil
      } catch {
        return error
      }
    }
    wait.cancel()
    #expect(await wait.value == GAPError.cancelled.error("ended"))
  }

  private static func untilCancelled() -> Task<Result<Int, BluetoothError>, Never> {
    Task {
      let (events, output) = AsyncStream.makeStream(of: Never.self)
      for await _ in events {}
      withExtendedLifetime(output) {}
      return .failure(GAPError.cancelled.error("ended"))
    }
  }

  @Test("a channel on which the other side says nothing is closed when the time for its handshake is over")
  func handshake() async throws {
    var ends: [Int32] = [-1, -1]
    try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
    let (own, other) = (BlockingSocket(ends[0]), BlockingSocket(ends[1]))
    await #expect(throws: Violation.self) {
      // Real time: the other side never speaks, so any limit is right.
      try await own.bounded(within: .milliseconds(1), on: ContinuousClock()) { () async throws(Violation) in
        try await own.readNext()
      }
    }
    #expect(await other.read() == nil)
  }

  @Test("an invitation of a peer that cannot be reached fails when the time for the connection is over")
  func dial() async throws {
    let daemon = try await Daemon(adapters: 2)
    let bob = try await Nodes.node(daemon, "Bob", adapter: 1)
    try await bob.advertise()
    var settings = NearbySettings(type: .files, name: "Alice")
    settings.adapter = daemon.adapter(0)
    let clock = HeldClock()
    settings.clock = clock
    let alice = try NearbyNode(client: try await daemon.client(), settings: settings)
    let peer = try await Nodes.find("Bob", by: alice)
    _ = try await daemon.client().call(AdapterPower.self, .init(adapter: daemon.adapter(1), on: false))
    let invited = Task { () async -> BluetoothError? in
      do throws(BluetoothError) {
        _ = try await alice.invite(peer)
        return nil
      } catch {
        return error
      }
    }
    try await until { await alice.inviting.count == 1 }
    try await clock.advance { await alice.inviting.count == 0 }
    #expect(await invited.value?.domain == .gap)
    #expect(await alice.links.devices.isEmpty)
  }

  @Test("a device that is read again and does not answer holds up no new one")
  func retryUnderWay() async throws {
    let (daemon, alice, bob) = try await Nodes.pair()
    defer { withExtendedLifetime(daemon) {} }
    try await bob.advertise()
    let peer = try await Nodes.find("Bob", by: alice)
    let gone = "00000000-0000-0000-0000-000000000001"
    await alice.links.beginChange(gone)
    let retry = Task { await alice.links.look(at: gone, 1, isRetry: true) }
    try await until { await alice.links.changes.count(at: gone) == 1 }
    #expect(await alice.links.look(at: peer.peripheral, peer.identifier)?.name == "Bob")
    await alice.links.endChange(gone)
    #expect(await retry.value == nil)
  }

  @Test("a device that does not answer the reading of its description is given up when the time for that is over")
  func look() async throws {
    let daemon = try await Daemon(adapters: 2)
    var settings = NearbySettings(type: .files, name: "Alice")
    settings.adapter = daemon.adapter(0)
    let clock = HeldClock()
    settings.clock = clock
    let alice = try NearbyNode(client: try await daemon.client(), settings: settings)
    // A peer with a description read from a program that never answers.
    let mute = try await daemon.client()
    let requests = Mutex<[ReadRequest]>([])
    mute.answerCalls(read: { request in requests.withLock { $0.append(request) } }, write: { _ in })
    let uuid = ServiceType.files.uuid
    _ = try await mute.publish(
      ServiceToPublish(
        uuid: uuid, characteristics: [.init(uuid: ServiceType.descriptionUUID, properties: [.read])],
        adapter: daemon.adapter(1)))
    _ = try await mute.advertise(.init(adapter: daemon.adapter(1), services: [uuid]))
    var found: String?
    let scanner = try await daemon.client()
    for try await report in try await scanner.scan(.init(adapter: daemon.adapter(0), services: [uuid])) {
      found = report.peripheral
      break
    }
    let peripheral = try #require(found)
    let link = try await alice.links.acquire(peripheral)
    let read = Task { () async -> BluetoothError? in
      do throws(BluetoothError) {
        _ = try await alice.links.description(of: link, 5)
        return nil
      } catch {
        return error
      }
    }
    try await until { requests.withLock { !$0.isEmpty } }
    clock.advance(by: SharedLinks.readingLimit)
    #expect(await read.value?.message.hasSuffix("was not read in time") == true)
    await alice.links.release(peripheral)
    #expect(await alice.links.devices.isEmpty)
    requests.withLock { $0 = [] }
  }
}
