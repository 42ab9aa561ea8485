import EventLoop

/// Shares the loop's time among clients: users take turns first, then the clients of each user.
///
/// | A client is ready, and its user …            | Effect                                                    |
/// |----------------------------------------------|-----------------------------------------------------------|
/// | has time left in this round of the loop      | it is served at once, for the rest of 1 ms                |
/// | has none, or has clients that wait           | it waits behind them                                      |
///
/// Behind all other ready work, the next user with waiting clients gets 1 ms, used up by the longest waiting of them in
/// sequence. A client with work left at the end waits behind its user's others. So a user with 400 busy clients delays
/// others no more than a user with a single one.
final class ClientTurns {
  /// The time for one user's clients until others get their turn, in nanoseconds.
  static let budget: Int64 = 1_000_000

  private let loop: EventLoop
  /// Gives the time in nanoseconds.
  private let clock: () -> Int64
  private var waiting = FairQueue<UInt32?, any TurnTaker>()
  /// The time used by users in this round, in nanoseconds. They are few.
  private var spent: [(user: UInt32?, time: Int64)] = []
  private var round: UInt64 = 0
  private var next: DeferredWork?

  /// - Throws: `EventLoopError` if memory is lacking.
  init(on loop: EventLoop, clock: @escaping () -> Int64 = { EventLoop.now }) throws(EventLoopError) {
    self.loop = loop
    self.clock = clock
    next = try DeferredWork(on: loop) { [unowned self] in serveNextUser() }
  }

  /// The client has something to do: it does so now, or at its turn.
  func ready(_ client: any TurnTaker) {
    // The client will be served; it need not be reported again until then.
    guard !client.isWaiting else { return client.watch(false) }
    if round != loop.round {
      round = loop.round
      spent.removeAll(keepingCapacity: true)
    }
    let user = client.user
    let before = spent.first { $0.user == user }?.time ?? 0
    guard before < Self.budget, !waiting.contains(user) else { return add(client) }
    let start = clock()
    serve(client, until: start + Self.budget - before)
    let time = before + clock() - start
    if let index = spent.firstIndex(where: { $0.user == user }) {
      spent[index].time = time
    } else {
      spent.append((user, time))
    }
  }

  /// The client can do something, and waits for its turn.
  func add(_ client: any TurnTaker) {
    guard !client.isWaiting else { return }
    client.isWaiting = true
    waiting.append(client, of: client.user)
    next?.request()
  }

  private func serveNextUser() {
    guard var turn = waiting.next() else { return }
    let deadline = clock() + Self.budget
    while true {
      turn.element.isWaiting = false
      serve(turn.element, until: deadline)
      guard clock() < deadline, let client = waiting.next(of: turn.party) else { break }
      turn.element = client
    }
    if !waiting.isEmpty { next?.request() }
  }

  private func serve(_ client: any TurnTaker, until deadline: Int64) {
    if client.takeTurn(until: deadline) { add(client) }
    if !client.isWaiting { client.watch(true) }
  }
}

/// A client of `ClientTurns`.
protocol TurnTaker: AnyObject {
  /// The user for its turns; nil if unknown.
  var user: UInt32? { get }
  /// True while it waits for its turn. Set by `ClientTurns` alone.
  var isWaiting: Bool { get set }
  /// Turns watching of its descriptor on or off.
  func watch(_ isOn: Bool)
  /// Works until nothing is left to do, or the clock shows `deadline`; work once begun is finished.
  /// - Returns: true if there is more to do at once.
  func takeTurn(until deadline: Int64) -> Bool
}
