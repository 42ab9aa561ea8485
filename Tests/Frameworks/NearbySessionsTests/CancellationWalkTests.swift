import BledClient
import Synchronization
import TestSupport
import Testing

@testable import NearbySessions

/// A call of a node that is cancelled while the daemon is slow, at whichever of its requests, no longer waits, and
/// leaves nothing behind: a walk over all functions that wait for the daemon.
@Suite(.timeLimit(.minutes(20))) struct CancellationWalkTests {
  /// Peers near the node.
  struct Near: Sendable {
    let alice: NearbyNode
    let bob: FoundPeer
  }

  /// A function of a node.
  struct Walk: Sendable, CustomTestStringConvertible {
    /// In the form of its declaration.
    let function: String
    /// True if it ends something: that continues to its end without the caller.
    var isEnd = false
    let call: @Sendable (Near) async throws -> Void

    var testDescription: String { function }
  }

  private static let walks = [
    Walk(function: "NearbyNode.advertise(_:)") { try await $0.alice.advertise(["b": "c"]) },
    Walk(function: "NearbyNode.becomeReachable()") { try await $0.alice.becomeReachable() },
    Walk(function: "NearbyNode.stopAdvertising()", isEnd: true) { await $0.alice.stopAdvertising() },
    Walk(function: "NearbyNode.becomeUnreachable()", isEnd: true) { await $0.alice.becomeUnreachable() },
    Walk(function: "NearbyNode.stop()", isEnd: true) { await $0.alice.stop() },
    Walk(function: "NearbyNode.browse()") { _ = try await $0.alice.browse() },
    Walk(function: "NearbyNode.find(_:)") { _ = try await $0.alice.find($0.bob.identifier) },
    Walk(function: "NearbyNode.invite(_:context:timeout:opened:)") { near in
      let connection = try await near.alice.invite(near.bob, timeout: .seconds(Patience.seconds))
      await connection.disconnect()
    },
  ]

  /// Calls that wait for the other side, which `CancellationTests` has.
  private static let waiting = [
    "FileResource.receive(_:from:into:progress:)", "FileResource.send(_:over:progress:)", "IncomingFlow.ended()",
    "IncomingFlow.read()", "NearbyConnection.next()", "NearbyConnection.sendWhenReady(_:isFirst:)",
    "OutgoingFlow.accepted()", "OutgoingFlow.ended()", "OutgoingFlow.room()", "OutgoingFlow.write(_:)",
  ]
  /// Calls that wait for nothing, which `atOnce` has.
  private static let immediate = [
    "IncomingFlow.accept(from:)", "IncomingFlow.close(_:)", "NearbyConnection.disconnect()",
    "NearbyConnection.offer(_:)", "NearbyConnection.openStream(_:)", "NearbyConnection.send(_:)",
    "NearbyConnection.sendDatagram(_:)", "NearbyInvitation.answer(_:)", "OutgoingFlow.close(_:)",
  ]

  @Test("each function that waits has its row") func functions() throws {
    let walked = Self.walks.map(\.function) + Self.waiting + Self.immediate
    #expect(try WaitingFunctions.names(of: "Frameworks/NearbySessions") == walked.sorted())
  }

  @Test(arguments: walks) func cancelled(_ walk: Walk) async throws {
    let daemon = try await Daemon(adapters: 2)
    let bob = try await Nodes.node(daemon, "Bob", adapter: 1)
    let answering = Task { for await invitation in bob.invitations { await invitation.answer(true) } }
    defer { answering.cancel() }
    try await bob.advertise()
    let found = try await Nodes.find("Bob", by: try await Nodes.node(daemon, "Helper", adapter: 0))
    var number = 1
    // The last one is not cancelled: it has fewer requests.
    while try await play(walk, holding: number, found, daemon) { number += 1 }
    #expect(number > 1)
    try await play(walk, holding: nil, found, daemon)
    withExtendedLifetime(bob) {}
  }

  /// - Parameter number: The request with a late answer; nil: the task is cancelled before the call.
  /// - Returns: True if the call has had this number of requests.
  @discardableResult
  private func play(_ walk: Walk, holding number: Int?, _ bob: FoundPeer, _ daemon: Daemon) async throws -> Bool {
    let slow = try await SlowDaemon(daemon)
    var settings = NearbySettings(type: .files, name: "Alice")
    settings.adapter = daemon.adapter(0)
    let clock = HeldClock()
    settings.clock = clock
    let client = try await BledClient.connect(to: slow.path)
    let near = Near(alice: try NearbyNode(client: client, settings: settings), bob: bob)
    if walk.isEnd {
      try await near.alice.advertise()
      try await near.alice.becomeReachable()
      if walk.function.contains("stopAdvertising") { await near.alice.becomeUnreachable() }
      if walk.function.contains("becomeUnreachable") { await near.alice.stopAdvertising() }
    }
    if let number { slow.hold(from: number) }
    let hasEnded = Flag()
    let call = Task {
      defer { hasEnded.set() }
      if number == nil { withUnsafeCurrentTask { $0?.cancel() } }
      try await walk.call(near)
    }
    try await until { slow.isHolding || hasEnded.isSet }
    let isHeld = slow.isHolding
    call.cancel()
    try await until { hasEnded.isSet }
    if isHeld || number == nil {
      switch await call.result {
      // A call that continues waiting does not get here; one may have ended with a request that it does not wait for.
      case .success: #expect(walk.isEnd || number != nil)
      case .failure(let error): #expect(!walk.isEnd && error is BluetoothError)
      }
    }
    slow.release()
    try await until {
      // The other side may know nothing of a session that is about to end.
      clock.advance(by: .seconds(1))
      let session = try await client.call(SessionList.self, .init()).sessions.first { $0.mine }
      guard let session else { return false }
      let isKept = walk.function.contains("advertise") || walk.function.contains("becomeReachable")
      let isLeft =
        session.scan == nil && (session.scans ?? []).isEmpty && session.connections.isEmpty
        && session.connecting.isEmpty && (session.channels ?? []).isEmpty && session.subscriptions.isEmpty
      // A call that was not cancelled advertises.
      return isLeft && session.advertisements.count == (isKept && !isHeld && number != nil ? 1 : 0)
    }
    await near.alice.stop()
    return isHeld
  }

  @Test("calls that wait for nothing do their work in a cancelled task, too")
  func atOnce() async throws {
    let (daemon, alice, bob) = try await Nodes.pair()
    defer { withExtendedLifetime((daemon, alice, bob)) {} }
    try await bob.advertise()
    let peer = try await Nodes.find("Bob", by: alice)
    let invited = Nodes.invite(peer, by: alice)
    let invitation = try await Nodes.invitation(to: bob, by: invited)
    #expect(try await Self.cancelled { await invitation.answer(true) })
    let (near, far) = (try await invited.value, invitation.connection)
    try await Self.cancelled { try await near.send([1]) }
    guard case .message([1])? = await far.next() else { throw Nodes.Missing() }
    // A datagram is dropped if something waits to be sent.
    try await Self.cancelled { await near.sendDatagram([2]) }
    let stream = try await Self.cancelled { try await near.openStream("s") }
    let offer = ResourceOffer(name: "r", size: 1, hash: [UInt8](repeating: 1, count: 32))
    let resource = try await Self.cancelled { try await near.offer(offer) }
    try await Self.cancelled { await stream.close() }
    var flows: [IncomingFlow] = []
    while flows.count < 2, let event = await far.next() {
      switch event {
      case .stream(let flow, "s"): flows.append(flow)
      case .resource(let flow, offer): flows.append(flow)
      default: break
      }
    }
    let (first, second) = (try #require(flows.first), try #require(flows.last))
    #expect(await first.ended() == .finished)
    try await Self.cancelled { await second.accept(from: 1) }
    #expect(await resource.accepted() == 1)
    try await Self.cancelled { await second.close(.damaged) }
    #expect(await resource.ended() == .damaged)
    try await Self.cancelled { await near.disconnect() }
    while let event = await far.next() { if case .ended(let end) = event { #expect(end == .byPeer) } }
  }

  /// Calls a function in a task that is cancelled.
  @discardableResult
  private static func cancelled<Value: Sendable>(
    _ call: @escaping @Sendable () async throws -> Value
  ) async throws -> Value {
    try await Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return try await call()
    }.value
  }
}

/// Set once, by another task.
private final class Flag: Sendable {
  private let state = Atomic(false)

  var isSet: Bool { state.load(ordering: .acquiring) }

  func set() { state.store(true, ordering: .releasing) }
}
