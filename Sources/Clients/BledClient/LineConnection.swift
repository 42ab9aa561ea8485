import BledConnection
import BledRPC
import Bluetooth
import Dispatch
import FoundationEssentials
private import Glibc
import Synchronization

/// A connection to the daemon that carries lines of any content. It is closed when its last reference is released;
/// lines sent before are still written.
///
/// | State   | Input                                    | Effect                                              |
/// |---------|------------------------------------------|-----------------------------------------------------|
/// | idle    | start                                    | a read source → open                                |
/// | open    | octets                                   | the complete lines among them are delivered         |
/// | open    | octets with a descriptor                 | it is delivered with the line of the last of them   |
/// | open    | send                                     | written; a write source waits for room for the rest |
/// | open    | the daemon has gone, a write failed      | its earlier lines are read, then → ended            |
/// | open    | a line too long, too much unsent         | → ended                                             |
/// | open    | close                                    | → closing                                           |
/// | closing | all is written, or the daemon has gone   | → ended, without an error                           |
/// | ended   | anything                                 | nothing                                             |
///
/// Variables are used on `queue` alone, so there is no lock.
public final class LineConnection: @unchecked Sendable {
  /// The limit for octets that wait to be written: 64 of the longest lines.
  static let unsentLimit = 64 * LineFramer.defaultLimit

  private static let key = DispatchSpecificKey<ObjectIdentifier>()
  private static let ended = BledError.daemonUnreachable.error("bled ended the connection. Is it still running?")

  /// The user of the process that opened the daemon's socket, as the kernel knows it; nil if it does not tell.
  public let daemonUser: UInt32?
  private let queue = DispatchQueue(label: "BledClient.connection")
  /// Counted where `send` is called: the queue may be busy with a function of the program.
  private let unsent = Atomic(0)
  private var socket: Socket?
  private var reader: (any DispatchSourceRead)?
  private var writer: (any DispatchSourceWrite)?
  private var line: (@Sendable (Data, ReceivedDescriptor?) -> Void)?
  private var closed: (@Sendable (BluetoothError?) -> Void)?
  private var lines = ReceivedLines()
  private var input = [UInt8](repeating: 0, count: 65536)
  private var output = UnsentOctets()
  private var isClosing = false
  private var hasWriteFailed = false

  private init(_ socket: Socket) {
    self.socket = socket
    daemonUser = socket.peerUser
    queue.setSpecific(key: Self.key, value: ObjectIdentifier(self))
  }

  deinit {
    reader?.cancel()
    writer?.cancel()
  }

  /// Connects; nothing is read before `start`.
  /// - Throws: `BledError.daemonUnreachable` or `.notPermitted`, with a remedy in the message.
  public static func connect(to path: String) async throws(BluetoothError) -> LineConnection {
    do throws(Errno) {
      return LineConnection(try Socket(connectedTo: path))
    } catch {
      throw unreachable(path, error.code)
    }
  }

  /// Starts reading. Both functions are called on the connection's queue: `line` for each line in order, without its
  /// line feed, and with the descriptor that the daemon passed with it; `closed` once at the end, with an error unless
  /// this side closed.
  public func start(
    line: @escaping @Sendable (Data, ReceivedDescriptor?) -> Void,
    closed: @escaping @Sendable (BluetoothError?) -> Void
  ) {
    perform { [self] in
      guard let socket else { return closed(isClosing ? nil : Self.ended) }
      (self.line, self.closed) = (line, closed)
      let reader = DispatchSource.makeReadSource(fileDescriptor: socket.descriptor, queue: queue)
      reader.setEventHandler { [weak self] in self?.receive() }
      // A descriptor must not be closed while a source watches it.
      reader.setCancelHandler { withExtendedLifetime(socket) {} }
      reader.activate()
      self.reader = reader
    }
  }

  /// Sends a line, which includes its line feed. After the end it does nothing. If the daemon does not read and 64 MiB
  /// wait, the connection ends with `BledError.tooSlow`.
  public func send(_ line: Data) {
    guard unsent.add(line.count, ordering: .relaxed).newValue <= Self.unsentLimit else {
      return perform {
        self.end(BledError.tooSlow.error("bled does not read: more than \(Self.unsentLimit) octets wait to be sent"))
      }
    }
    perform { [self] in
      guard socket != nil, !isClosing, !hasWriteFailed else { return }
      output.append(line)
      if writer == nil { write() }
    }
  }

  /// Closes the connection; lines sent before are still written.
  public func close() {
    perform { [self] in
      isClosing = true
      if output.isEmpty { end(nil) }
    }
  }

  /// Calls `body` on the connection's queue: at once if the caller is on it, else after work enqueued before.
  func perform(_ body: @escaping @Sendable () -> Void) {
    if DispatchQueue.getSpecific(key: Self.key) == ObjectIdentifier(self) {
      body()
    } else {
      queue.async(execute: body)
    }
  }

  /// Calls `body` on the connection's queue, after everything that was given before, wherever the caller is.
  func enqueue(_ body: @escaping @Sendable () -> Void) { queue.async(execute: body) }

  /// Reads the available octets, up to a limit, so that a daemon that never pauses does not monopolise the queue.
  private func receive() {
    for _ in 0..<16 {
      guard receiveOnce() else { return }
    }
  }

  /// - Returns: Whether there may be more.
  private func receiveOnce() -> Bool {
    guard let socket else { return false }
    switch input.withUnsafeMutableBytes({ socket.receive($0) }) {
    case .failure(.again): return false
    case .failure(let error): end(Self.failed(error))
    case .success((0, _)): end(Self.ended)
    case .success((let count, let passed)):
      lines.append(input[..<count], with: passed)
      do {
        while let (line, descriptor) = try lines.next() { self.line?(line, descriptor) }
        return true
      } catch {
        end(BledError.protocolViolation.error("bled sent a line of more than \(error.limit) bytes"))
      }
    }
    return false
  }

  private func write() {
    guard let socket else { return }
    do {
      try output.write(to: socket) { unsent.subtract($0, ordering: .relaxed) }
    } catch {
      return error == .again ? awaitRoom(socket) : writeFailed(error)
    }
    writer?.cancel()
    writer = nil
    if isClosing { end(nil) }
  }

  private func awaitRoom(_ socket: Socket) {
    guard writer == nil else { return }
    // Two sources on one number share its registration with epoll(7), and may miss earlier readiness.
    let number = socket.duplicate()
    let writer = DispatchSource.makeWriteSource(fileDescriptor: number ?? socket.descriptor, queue: queue)
    // Not weak: sent lines are written even when the connection is no longer referenced.
    writer.setEventHandler { self.write() }
    writer.setCancelHandler { withExtendedLifetime(socket) { if let number { Glibc.close(number) } } }
    writer.activate()
    self.writer = writer
  }

  /// The daemon has gone. Its last messages are still to be read, but not from within a function that is called with a
  /// line; before `start` that is left to the read source.
  private func writeFailed(_ error: Errno) {
    hasWriteFailed = true
    writer?.cancel()
    writer = nil
    output.removeAll()
    if isClosing { return end(nil) }
    guard reader != nil else { return }
    queue.async { [self] in
      while receiveOnce() {}
      end(Self.failed(error))
    }
  }

  private func end(_ error: BluetoothError?) {
    guard socket != nil else { return }
    reader?.cancel()
    writer?.cancel()
    let closed = closed
    (socket, reader, writer, line, self.closed) = (nil, nil, nil, nil, nil)
    output.removeAll()
    lines = ReceivedLines()
    closed?(isClosing ? nil : error)
  }

  private static func failed(_ error: Errno) -> BluetoothError {
    BledError.daemonUnreachable.error("the connection to bled failed: \(error.text)")
  }
}

/// Why the daemon could not be reached, and the remedy.
private func unreachable(_ path: String, _ error: Int32) -> BluetoothError {
  // Where a daemon without options listens, its clients look for it.
  let option = path == SocketPath.system ? "" : " --socket \(path)"
  let start = """
    Start it with "systemctl start bled.socket", or by hand: bled --adapter hci0\(option) \
    (without an adapter at hand: --adapter simulated).
    """
  switch error {
  case ENOENT, ENOTDIR:
    return BledError.daemonUnreachable.error("bled is not running: there is no socket \(path). \(start)")
  case ECONNREFUSED:
    return BledError.daemonUnreachable.error("bled is not running: nothing listens on \(path). \(start)")
  case EACCES, EPERM:
    return BledError.notPermitted.error(
      """
      no permission to use the socket \(path): members of its group may (see "ls -l \(path)"): \
      "sudo usermod -aG bluetooth $USER", then log in again; or use sudo
      """)
  default:
    return BledError.daemonUnreachable.error("bled cannot be reached at \(path): \(Errno(code: error).text)")
  }
}
