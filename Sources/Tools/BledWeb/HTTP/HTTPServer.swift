import BledConnection
import Dispatch

/// Serves HTTP: each connection is one request.
///
/// | A connection …                    | Effect                                                                     |
/// |-----------------------------------|----------------------------------------------------------------------------|
/// | beyond the limit                  | replaces the oldest without a whole request; is closed without one         |
/// | sends a whole request             | is answered, and closed after the last octet; a stream continues           |
/// | ends, or is not whole after 5 s   | is closed                                                                  |
/// | accepts its answer too slowly     | is closed (`ReceiverPace`)                                                 |
@MainActor public final class HTTPServer {
  /// The limit for the time until a request is whole.
  private static let timeout = Duration.seconds(5)
  /// The time without `accept` after there was no descriptor for a connection.
  private static let pause = DispatchTimeInterval.milliseconds(200)

  private let listener: Listener
  private let limit: Int
  private let pace: ReceiverPace
  private let answer: @MainActor (HTTPRequest) async -> HTTPAnswer
  private var watch: (any DispatchSourceRead)?
  private var isClosed = false
  /// The oldest first.
  private var connections: [HTTPConnection] = []

  /// Begins to accept connections.
  /// - Parameters:
  ///   - limit: the limit for connections, 1 or more.
  ///   - pace: the minimum pace of accepting answers.
  ///   - answer: makes the answer to a whole or refused request.
  package init(
    _ listener: Listener, limit: Int, pace: ReceiverPace = .usual,
    answer: @escaping @MainActor (HTTPRequest) async -> HTTPAnswer
  ) {
    self.listener = listener
    self.limit = limit
    self.pace = pace
    self.answer = answer
    awaitConnections()
  }

  /// Closes all connections and accepts no more.
  public func close() {
    isClosed = true
    watch?.cancel()
    for connection in connections { connection.close() }
  }

  /// Lets each stream send its next octets.
  public func pump() {
    for connection in connections { connection.pump() }
  }

  private func awaitConnections() {
    let watch = DispatchSource.makeReadSource(fileDescriptor: listener.descriptor, queue: .main)
    watch.setEventHandler { [weak self] in MainActor.assumeIsolated { self?.accept() } }
    watch.setCancelHandler { [listener] in withExtendedLifetime(listener) {} }
    watch.activate()
    self.watch = watch
  }

  private func accept() {
    for _ in 0..<Listener.portion {
      switch listener.accept() {
      case .connection(let socket): serve(socket)
      case .none: return
      case .exhausted: return rest()
      }
    }
  }

  private func rest() {
    // Without a descriptor or memory the connection stays in the queue, and the source would fire again immediately.
    watch?.cancel()
    DispatchQueue.main.asyncAfter(deadline: .now() + Self.pause) { [weak self] in
      MainActor.assumeIsolated {
        guard let self, !self.isClosed else { return }
        self.awaitConnections()
      }
    }
  }

  private func serve(_ socket: Socket) {
    if connections.count >= limit {
      guard let oldest = connections.first(where: { $0.state == .reading }) else { return }
      oldest.close()
    }
    connections.append(
      HTTPConnection(socket, timeout: Self.timeout, pace: pace, answer: answer) { [weak self] connection in
        self?.connections.removeAll { $0 === connection }
      })
  }
}
