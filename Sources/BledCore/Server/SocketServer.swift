import EventLoop
import Glibc
import Logging

/// Accepts clients on a Unix socket and opens a session for each.
public final class SocketServer {
  /// How many clients are accepted before other sources get their turn.
  private static let burst = 16
  /// How long clients wait when no descriptors are available, in nanoseconds.
  private static let pause: Int64 = 200_000_000

  private let socket: ListeningSocket
  private let daemon: Daemon
  private let loop: EventLoop
  private let logger: Logger
  private var watch: Watch?
  private var clients: [ObjectIdentifier: ClientSocket] = [:]
  private var pauseTimer: Timer?
  private var lastComplaint: Int64?
  private var allClosed: (() -> Void)?

  /// Begins to accept clients.
  /// - Throws: `EventLoopError` if the socket cannot be watched.
  public init(_ socket: ListeningSocket, daemon: Daemon, loop: EventLoop, logger: Logger) throws(EventLoopError) {
    self.socket = socket
    self.daemon = daemon
    self.loop = loop
    self.logger = logger
    watch = try Watch(socket.descriptor, on: loop) { [weak self] _ in self?.accept() }
  }

  /// Accepts no more clients, and removes the socket's file if it is ours.
  public func stopListening() {
    guard watch != nil else { return }
    socket.removeFile()
    pauseTimer?.cancel()
    watch?.cancel()
    watch = nil
    close(socket.descriptor)
  }

  /// Waits until all clients have disconnected, and closes those that are left after `patience`.
  /// - Parameter done: called once, never from inside this call.
  public func closeClients(within patience: Duration, _ done: @escaping () -> Void) {
    guard !clients.isEmpty else { return loop.execute(done) }
    let (seconds, attoseconds) = patience.components
    let time = EventLoop.now + seconds * 1_000_000_000 + attoseconds / 1_000_000_000
    let alarm = loop.schedule(at: time) { [weak self] in
      for client in Array((self?.clients ?? [:]).values) { client.disconnect() }
    }
    allClosed = {
      alarm.cancel()
      done()
    }
  }

  private func accept() {
    for _ in 0..<Self.burst {
      let descriptor = Glibc.accept(socket.descriptor, nil, nil)
      guard descriptor >= 0 else {
        switch errno {
        case EAGAIN: return
        case EINTR, ECONNABORTED: continue
        default: return complain(errno)
        }
      }
      _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
      do {
        let client = try ClientSocket(descriptor, loop: loop, daemon: daemon) { [weak self] in self?.closed($0) }
        clients[ObjectIdentifier(client)] = client
      } catch {
        return complain(ENOMEM)
      }
    }
  }

  private func closed(_ client: ClientSocket) {
    clients[ObjectIdentifier(client)] = nil
    if clients.isEmpty, let allClosed {
      self.allClosed = nil
      loop.execute(allClosed)
    }
  }

  /// When no descriptors are available, clients wait in the kernel's queue until some are, instead of being accepted
  /// at once.
  private func complain(_ code: Int32) {
    watch?.interest = []
    pauseTimer = loop.schedule(at: EventLoop.now + Self.pause) { [weak self] in self?.watch?.interest = .readable }
    let now = EventLoop.now
    guard lastComplaint.map({ now - $0 >= 60_000_000_000 }) ?? true else { return }
    lastComplaint = now
    logger.error(
      "no more clients can be accepted: \(String(cString: strerror(code))). New clients wait; raise LimitNOFILE in bled's unit, or stop some programs"
    )
  }
}
