import BledRPC
import Bluetooth
import EventLoop
import Glibc
import Logging

/// Accepts clients on a Unix socket and opens a session for each.
public final class SocketServer {
  /// Clients accepted in a turn.
  private static let burst = 16
  /// The pause in accepting when the kernel lacks memory, in nanoseconds.
  private static let pause: Int64 = 200_000_000

  private let socket: ListeningSocket
  private let host: any SessionOpener
  private let loop: EventLoop
  private let logger: Logger
  let turns: ClientTurns
  private let farewells: Farewells
  private var watch: Watch?
  private var clients: [ObjectIdentifier: ClientSocket] = [:]
  private var pauseTimer: Timer?
  private var lastComplaint: Int64?
  /// A descriptor given up to accept a client when no other one is free, so that the refusal can be sent.
  private var reserve: Int32
  private var allClosed: (() -> Void)?

  /// Begins to accept clients.
  /// - Throws: `EventLoopError` if the socket cannot be watched.
  init(_ socket: ListeningSocket, host: any SessionOpener, loop: EventLoop, logger: Logger) throws(EventLoopError) {
    self.socket = socket
    self.host = host
    self.loop = loop
    self.logger = logger
    turns = try ClientTurns(on: loop)
    farewells = Farewells(on: loop)
    reserve = Self.openReserve()
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
    if reserve >= 0 { close(reserve) }
    reserve = -1
  }

  /// Waits until all clients have disconnected, and closes the rest after `timeout`.
  /// - Parameter done: called once, never from inside this call.
  public func closeClients(within timeout: Duration, _ done: @escaping () -> Void) {
    guard !clients.isEmpty else {
      farewells.closeAll()
      return loop.execute(done)
    }
    let (seconds, attoseconds) = timeout.components
    let time = EventLoop.now + seconds * 1_000_000_000 + attoseconds / 1_000_000_000
    let alarm = loop.schedule(at: time) { [weak self] in
      for client in Array((self?.clients ?? [:]).values) { client.disconnect() }
    }
    allClosed = { [weak self] in
      alarm.cancel()
      self?.farewells.closeAll()
      done()
    }
  }

  private func accept() {
    for _ in 0..<Self.burst {
      let descriptor = acceptOne()
      guard descriptor >= 0 else {
        let code = errno
        switch code {
        case EAGAIN: return
        case EINTR, ECONNABORTED: continue
        case EMFILE where refuseOne(): continue
        default: return pause(code)
        }
      }
      guard isPermitted(descriptor) else {
        refuse(descriptor)
        farewells.add(descriptor)
        continue
      }
      do throws(EventLoopError) {
        let client = try ClientSocket(
          descriptor, loop: loop, host: host, turns: turns, farewells: farewells
        ) { [weak self] in self?.closed($0) }
        clients[ObjectIdentifier(client)] = client
      } catch {
        return pause(error.code)
      }
    }
  }

  /// True if there are enough descriptors for a client of this user.
  private func isPermitted(_ descriptor: CInt) -> Bool {
    !DescriptorReserve.contains(descriptor)
      || host.rules.policy.isPrivileged(PeerCredentials(ofSocket: descriptor))
  }

  /// Answers the next client that there is no descriptor for it, not even a reserved one.
  /// - Returns: false if it has to wait.
  private func refuseOne() -> Bool {
    guard reserve >= 0 else { return false }
    close(reserve)
    let descriptor = acceptOne()
    if descriptor >= 0 {
      refuse(descriptor)
      // Its number is needed for the next one.
      Farewells.close(descriptor)
    }
    reserve = Self.openReserve()
    return descriptor >= 0
  }

  private func refuse(_ descriptor: CInt) {
    complain(EMFILE)
    guard let line = try? RPCEncoding.failure(id: nil, RPCError(DescriptorReserve.refusal)) else { return }
    let flags = Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT)
    _ = line.withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, flags) }
  }

  private func acceptOne() -> Int32 {
    let descriptor = Glibc.accept(socket.descriptor, nil, nil)
    if descriptor >= 0 { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
    return descriptor
  }

  private static func openReserve() -> Int32 { open("/dev/null", O_RDONLY | O_CLOEXEC) }

  private func closed(_ client: ClientSocket) {
    clients[ObjectIdentifier(client)] = nil
    if clients.isEmpty, let allClosed {
      self.allClosed = nil
      loop.execute(allClosed)
    }
  }

  /// Without memory, or even without the reserve, clients wait in the kernel's queue for a while.
  private func pause(_ code: Int32) {
    complain(code)
    reserve = reserve >= 0 ? reserve : Self.openReserve()
    watch?.interest = []
    pauseTimer = loop.schedule(at: EventLoop.now + Self.pause) { [weak self] in self?.watch?.interest = .readable }
  }

  private func complain(_ code: Int32) {
    let now = EventLoop.now
    guard lastComplaint.map({ now - $0 >= 60_000_000_000 }) ?? true else { return }
    lastComplaint = now
    logger.error(
      "no more clients can be accepted: \(String(cString: strerror(code))). Raise LimitNOFILE in bled's unit, or stop some programs"
    )
  }
}
