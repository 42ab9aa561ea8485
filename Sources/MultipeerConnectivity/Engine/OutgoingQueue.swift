import FrameworkSupport
import NearbySessions

/// The data, messages and streams that are to be sent to a peer, in their order.
final class OutgoingQueue: Sendable {
  enum Item: Sendable {
    case message(SessionMessage)
    case data(Data)
    case datagram(Data)
    case stream(StreamSocket, name: String)
  }

  /// The octets of data that wait for their turn, besides one of any length up to it, and the items.
  static let octetLimit = 16 << 20, itemLimit = 4096

  private struct State {
    var items: [Item] = []
    var octets = 0
    var waiter: CheckedContinuation<Void, Never>?
    var isClosed = false
  }

  private let state = Guarded(State())

  /// Adds an item. "ready" needs no room: without it the peer would keep a secret that is of no use any more.
  /// - Returns: false if there is no room, or nothing is sent any more.
  func add(_ item: Item) -> Bool {
    let (isAdded, waiter) = state.with { state -> (Bool, CheckedContinuation<Void, Never>?) in
      let hasRoom = state.items.count < Self.itemLimit && state.octets + item.octets <= Self.octetLimit
      guard !state.isClosed, hasRoom || item.isReady else { return (false, nil) }
      state.items.append(item)
      state.octets += item.octets
      defer { state.waiter = nil }
      return (true, state.waiter)
    }
    waiter?.resume()
    return isAdded
  }

  /// Waits for the next item, for one caller; nil once it is closed.
  func next() async -> Item? {
    while true {
      let (item, isClosed) = state.with { state -> (Item?, Bool) in
        guard !state.isClosed, !state.items.isEmpty else { return (nil, state.isClosed) }
        let item = state.items.removeFirst()
        state.octets -= item.octets
        return (item, false)
      }
      if item != nil || isClosed { return item }
      await withCheckedContinuation { continuation in
        let isReady = state.with { state in
          guard state.items.isEmpty, !state.isClosed else { return true }
          state.waiter = continuation
          return false
        }
        if isReady { continuation.resume() }
      }
    }
  }

  /// Nothing is sent any more: the streams that have not begun end.
  func close() {
    let (waiter, items) = state.with { state in
      state.isClosed = true
      defer { (state.waiter, state.items) = (nil, []) }
      return (state.waiter, state.items)
    }
    for case .stream(let socket, _) in items { socket.close() }
    waiter?.resume()
  }
}

extension OutgoingQueue.Item {
  fileprivate var isReady: Bool { if case .message(.ready) = self { true } else { false } }

  fileprivate var octets: Int {
    switch self {
    case .data(let data), .datagram(let data): data.count
    case .message, .stream: 0
    }
  }
}
