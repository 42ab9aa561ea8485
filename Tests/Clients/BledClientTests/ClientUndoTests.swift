import BledClient
import BledRPC
import Bluetooth
import Foundation
import TestSupport
import Testing

/// A call that is cancelled, at any step, no longer waits and leaves nothing behind in the daemon: a walk over all
/// functions that wait.
@Suite("BledClient: the undoing of cancelled calls") struct ClientUndoTests {
  /// When a call is cancelled.
  enum Step: Sendable, CaseIterable {
    /// Before its request is sent.
    case unsent
    /// Before the daemon answers, which then executes the request.
    case unanswered
    /// Before the daemon answers, which then refuses.
    case unrefused
    /// When it has returned.
    case answered
  }

  /// A call that is cancelled at a step.
  struct Walk: Sendable, CustomTestStringConvertible {
    let call: WaitingCall
    let step: Step

    var testDescription: String { "\(call.function), \(step)" }

    /// The methods that the client calls: until it is cancelled, until the daemon answers, and behind that.
    var expected: [[String]] {
      switch step {
      case .unsent: [[], [], []]
      case .unanswered: [[call.method], call.abandoned, call.late]
      case .unrefused: [[call.method], call.abandoned, []]
      case .answered: [[call.method] + call.released, [], []]
      }
    }
  }

  private static let walks =
    WaitingCall.lasting.flatMap { call in Step.allCases.map { Walk(call: call, step: $0) } }
    + WaitingCall.passing.flatMap { call in
      Step.allCases.filter { $0 != .answered }.map { Walk(call: call, step: $0) }
    }

  @Test("each function that waits has its walk") func functions() throws {
    // Calls of a client without a session: `opening` has the first, and the second does not wait.
    let others = ["BledClient.connect(to:name:restoration:background:prepare:)", "LineConnection.connect(to:)"]
    let walked = (WaitingCall.lasting + WaitingCall.passing).map(\.function) + others
    #expect(try WaitingFunctions.names(of: "Clients/BledClient") == walked.sorted())
  }

  @Test(arguments: walks) func cancelled(_ walk: Walk) async throws {
    let daemon = try FakeDaemon()
    let (asked, ask) = AsyncStream.makeStream(of: Void.self)
    let script = daemon.play { daemon in
      try daemon.answer(daemon.expect(PeripheralConnect.self).id, WaitingCall.link)
      var called: [[String]] = [[]]
      var pending: RequestID?
      // The client reads the adapters between the parts.
      while called.count < 4 {
        let message = try daemon.next()
        guard case .request(let id, let method) = message.kind else { throw FakeDaemon.Trouble("\(message.kind)") }
        if method == AdapterList.name {
          if called.count == 2, let pending { try Self.answer(pending, walk, daemon) }
          called.append([])
          try daemon.answer(id, AdapterList.Result(adapters: []))
          continue
        }
        called[called.count - 1].append(method)
        guard called == [[walk.call.method]] else { continue }
        if walk.step == .answered { try Self.answer(id, walk, daemon) } else { pending = id }
        ask.yield()
      }
      guard Array(called.prefix(3)) == walk.expected else { throw FakeDaemon.Trouble("called \(called)") }
    }
    let client = try await BledClient.connect(to: daemon.path)
    let device = try await client.connect(.identifier("P"))
    let mark = { _ = try await client.call(AdapterList.self, Empty()) }
    let call = Task {
      if walk.step == .unsent { withUnsafeCurrentTask { $0?.cancel() } }
      try await walk.call.call(client, device)
    }
    if walk.step != .unsent { for await _ in asked { break } }
    if walk.step == .answered {
      try await call.value
    } else if walk.step == .unsent {
      await Self.expectCancelled(call)
    }
    try await mark()
    call.cancel()
    if walk.step == .unanswered || walk.step == .unrefused { await Self.expectCancelled(call) }
    for _ in 0..<2 { try await mark() }
    try await script.value
  }

  private static func answer(_ id: RequestID, _ walk: Walk, _ daemon: FakeDaemon) throws {
    guard walk.step == .unrefused else { return daemon.send(try RPCEncoding.success(id: id, walk.call.answer)) }
    daemon.send(try RPCEncoding.failure(id: id, RPCError(GAPError.notSupported.error("refused"))))
  }

  private static func expectCancelled(_ call: Task<Void, any Error>) async {
    let failure = await #expect(throws: BluetoothError.self) { try await call.value }
    #expect(failure?.name == "cancelled")
  }

  @Test("a client that waits for its session ends the connection", arguments: [true, false])
  func opening(isSent: Bool) async throws {
    let daemon = try FakeDaemon()
    let (asked, ask) = AsyncStream.makeStream(of: Void.self)
    let script = daemon.play(opens: false) { daemon in
      if isSent { _ = try daemon.expect(SessionOpen.self) }
      ask.yield()
      try daemon.expectEnd()
    }
    let opening = Task { [path = daemon.path] in
      if !isSent { withUnsafeCurrentTask { $0?.cancel() } }
      _ = try await BledClient.connect(to: path)
    }
    for await _ in asked { break }
    opening.cancel()
    await Self.expectCancelled(opening)
    try await script.value
  }

  @Test("only the newest agent counts: the late answer to an earlier call leaves it alone")
  func laterAgent() async throws {
    let daemon = try FakeDaemon()
    let (asked, ask) = AsyncStream.makeStream(of: Void.self)
    let script = daemon.play { daemon in
      let former = try daemon.expect(PairingRegister.self).id
      ask.yield()
      let later = try daemon.expect(PairingRegister.self).id
      try daemon.answer(former, Empty())
      try daemon.answer(later, Empty())
      try daemon.answer(daemon.expect(PeripheralRSSI.self).id, PeripheralRSSI.Result(rssi: 0))
    }
    let client = try await BledClient.connect(to: daemon.path)
    let agent = PairingAgent(capability: .display) { _ in true }
    let former = Task { try await client.answerPairings(with: agent) }
    for await _ in asked { break }
    former.cancel()
    await Self.expectCancelled(former)
    try await client.answerPairings(with: agent)
    _ = try await client.call(PeripheralRSSI.self, .init(peripheral: "P"))
    try await script.value
  }
}
