import FrameworkSupport
import NearbySessions

/// The data and streams queued for a peer, in order, and the session's messages, which precede them: without "ready"
/// the peer would keep a useless secret.
final class OutgoingQueue: Sendable {
  enum Item: Sendable {
    case data(Data)
    case datagram(Data)
    case stream(BlockingSocket, name: String)
  }

  private typealias Waiter = CheckedContinuation<Void, Never>

  /// Maximum octets of queued data, besides one item of any length up to it, and maximum items.
  static let octetLimit = 16 << 20, itemLimit = 4096

  private struct State {
    var messages: [SessionMessage] = []
    /// True while a message is being sent.
    var isSendingMessage = false
    var items: [Item] = []
    var octets = 0
    /// The waits for a message and for an item.
    var messageWaiter: Waiter?, itemWaiter: Waiter?
    var isClosed = false

    /// Data waits until the messages before it are sent: the peer takes none before "ready".
    var nextItem: Item? {
      messages.isEmpty && !isSendingMessage ? items.first : nil
    }

    /// The waits to end.
    mutating func ended() -> [Waiter] {
      var ended: [Waiter] = []
      if isClosed || !messages.isEmpty, let waiter = messageWaiter {
        messageWaiter = nil
        ended.append(waiter)
      }
      if isClosed || nextItem != nil, let waiter = itemWaiter {
        itemWaiter = nil
        ended.append(waiter)
      }
      return ended
    }
  }

  private let state = Guarded(State())

  /// Adds an item.
  /// - Returns: false without room, or after the end.
  func add(_ item: Item) -> Bool {
    change { state in
      let hasRoom = state.items.count < Self.itemLimit && state.octets + item.octets <= Self.octetLimit
      guard !state.isClosed, hasRoom else { return false }
      state.items.append(item)
      state.octets += item.octets
      return true
    }
  }

  /// Adds a session's message. "ready" needs no room.
  /// - Returns: as `add`.
  func add(_ message: SessionMessage) -> Bool {
    change { state in
      guard !state.isClosed, state.messages.count < Self.itemLimit || message.isReady else { return false }
      state.messages.append(message)
      return true
    }
  }

  /// Waits for the next message, for one caller, after the last one was sent; nil once it is closed.
  func nextMessage() async -> SessionMessage? {
    change { $0.isSendingMessage = false }
    while true {
      let (message, isClosed) = state.with { state -> (SessionMessage?, Bool) in
        guard !state.isClosed, !state.messages.isEmpty else { return (nil, state.isClosed) }
        state.isSendingMessage = true
        return (state.messages.removeFirst(), false)
      }
      if message != nil || isClosed { return message }
      await wait(\.messageWaiter)
    }
  }

  /// Waits for the next item, for one caller; nil once it is closed.
  func next() async -> Item? {
    while true {
      let (item, isClosed) = state.with { state -> (Item?, Bool) in
        guard !state.isClosed, let item = state.nextItem else { return (nil, state.isClosed) }
        state.items.removeFirst()
        state.octets -= item.octets
        return (item, false)
      }
      if item != nil || isClosed { return item }
      await wait(\.itemWaiter)
    }
  }

  /// Ends sending: streams that have not begun end.
  func close() {
    let items = change { state in
      state.isClosed = true
      defer { (state.items, state.messages) = ([], []) }
      return state.items
    }
    for case .stream(let socket, _) in items { socket.close() }
  }

  /// Changes the state, and ends the finished waits.
  @discardableResult
  private func change<Result: Sendable>(_ body: (inout State) -> Result) -> Result {
    let (result, ended) = state.with { state in
      let result = body(&state)
      return (result, state.ended())
    }
    for waiter in ended { waiter.resume() }
    return result
  }

  private func wait(_ place: WritableKeyPath<State, Waiter?>) async {
    await withCheckedContinuation { continuation in
      change { $0[keyPath: place] = continuation }
    }
  }
}

extension SessionMessage {
  fileprivate var isReady: Bool { if case .ready = self { true } else { false } }
}

extension OutgoingQueue.Item {
  fileprivate var octets: Int {
    switch self {
    case .data(let data), .datagram(let data): data.count
    case .stream: 0
    }
  }
}
