import BledConnection
import BledRPC
import BledSession
import Bluetooth
import EventLoop
import FoundationEssentials

/// Connections to bled's socket on an event loop.
package final class SocketConnector: DaemonConnector {
  private let path: String
  private let loop: EventLoop
  private let isPaused: () -> Bool

  /// - Parameter isPaused: whether nothing is to be read for now: it waits at bled, which has a limit for each session.
  package init(path: String, loop: EventLoop, isPaused: @escaping () -> Bool = { false }) {
    self.path = path
    self.loop = loop
    self.isPaused = isPaused
  }

  package func connect(_ session: DaemonSession) throws(BluetoothError) -> any DaemonTransport {
    do {
      return try SocketTransport(Socket(connectedTo: path), session, loop, isPaused: isPaused)
    } catch {
      throw BledError.daemonUnreachable.error("bled cannot be reached at \(path): \(error)")
    }
  }
}

/// One connection to bled's socket.
private final class SocketTransport: DaemonTransport {
  /// The limit for octets that wait to be written: 64 of the longest lines.
  private static let unsentLimit = 64 * LineFramer.defaultLimit
  /// The octets that one read takes.
  private static let portion = 65536
  /// The pause before reading is tried again, in nanoseconds.
  private static let pause: Int64 = 5_000_000

  private let socket: Socket
  private let session: DaemonSession
  private let loop: EventLoop
  private let isPaused: () -> Bool
  private var watch: Watch?
  private var lines = ReceivedLines()
  private var unsent = UnsentOctets()
  private var resumption: Timer?

  init(
    _ socket: Socket, _ session: DaemonSession, _ loop: EventLoop, isPaused: @escaping () -> Bool
  ) throws(EventLoopError) {
    self.socket = socket
    self.session = session
    self.loop = loop
    self.isPaused = isPaused
    watch = try Watch(socket.descriptor, on: loop) { [unowned self] in ready($0) }
  }

  func send(_ line: Data) {
    guard watch != nil else { return }
    unsent.append(line)
    write()
  }

  func close() {
    watch?.cancel()
    watch = nil
    resumption?.cancel()
    resumption = nil
  }

  private func ready(_ readiness: Watch.Readiness) {
    // The session may drop its last reference to this while it handles a line.
    withExtendedLifetime(self) {
      if readiness.contains(.writable) { write() }
      if !readiness.isDisjoint(with: [.readable, .failed]) { read() }
    }
  }

  /// Neither reads nor writes for a moment.
  private func pauseReading() {
    watch?.isEnabled = false
    resumption = loop.schedule(at: EventLoop.now + Self.pause) { [weak self] in
      self?.resumption = nil
      self?.watch?.isEnabled = true
    }
  }

  private func read() {
    guard watch != nil else { return }
    guard !isPaused() else { return pauseReading() }
    let result = withUnsafeTemporaryAllocation(byteCount: Self.portion, alignment: 1) { octets in
      let result = socket.receive(octets)
      if case .success(let (count, passed)) = result { lines.append(octets[..<count], with: passed) }
      return result
    }
    switch result {
    case .failure(.again): return
    case .failure(let error): return end(error.text)
    case .success((0, _)): return end("it ended the connection")
    case .success: break
    }
    do {
      while watch != nil, let (line, descriptor) = try lines.next() { session.receive(line, descriptor) }
    } catch {
      end("it sent a line of more than \(error.limit) octets")
    }
  }

  private func write() {
    do {
      try unsent.write(to: socket) { _ in }
      watch?.interest = .readable
    } catch {
      guard error == .again else { return fail(error.text) }
      guard unsent.count <= Self.unsentLimit else { return fail("it does not read") }
      watch?.interest = [.readable, .writable]
    }
  }

  /// A failure in a call of the session, which is not to hear of it from inside.
  private func fail(_ reason: String) {
    loop.execute { self.end(reason) }
  }

  private func end(_ reason: String) {
    guard watch != nil else { return }
    close()
    session.end(BledError.daemonUnreachable.error("the connection to bled is lost: \(reason)"))
  }
}
