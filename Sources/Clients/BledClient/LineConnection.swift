import BledConnection
import BledRPC
import Bluetooth
import Dispatch
import FoundationEssentials
import Synchronization

/// A connection to the daemon that carries lines of any content. It is closed when its last reference is released;
/// lines sent before are still written.
///
/// Variables are used on `queue` alone, so there is no lock.
public final class LineConnection: @unchecked Sendable {
  private static let key = DispatchSpecificKey<ObjectIdentifier>()

  /// The user of the process that opened the daemon's socket, from the kernel; nil if the kernel does not report it.
  public let daemonUser: UInt32?
  private let queue: DispatchQueue
  private let stream: LineStream
  /// Counted where `send` is called: the queue may be busy with a function of the program.
  private let unsent = Atomic(0)
  private let hasEnded = Atomic(false)
  private var isClosing = false

  private init(connectedTo path: String) throws(BluetoothError) {
    queue = DispatchQueue(label: "BledClient.connection")
    stream = try LineStream(connectedTo: path, on: QueueSockets(queue))
    daemonUser = stream.daemonUser
    queue.setSpecific(key: Self.key, value: ObjectIdentifier(self))
    stream.wrote = { [weak self] in self?.unsent.subtract($0, ordering: .relaxed) }
  }

  deinit {
    nonisolated(unsafe) let stream = stream
    queue.async { stream.finish() }
  }

  /// Connects; nothing is read before `start`.
  /// - Throws: `BledError.daemonUnreachable` or `.notPermitted`, with a remedy in the message.
  public static func connect(to path: String) async throws(BluetoothError) -> LineConnection {
    try LineConnection(connectedTo: path)
  }

  /// Starts reading. Both functions are called on the connection's queue: `line` for each line in order, without its
  /// line feed, and with the descriptor that the daemon passed with it; `closed` once at the end, with an error unless
  /// this side closed.
  public func start(
    line: @escaping @Sendable (Data, ReceivedDescriptor?) -> Void,
    closed: @escaping @Sendable (BluetoothError?) -> Void
  ) {
    perform { [self] in
      guard !stream.isClosed else { return closed(isClosing ? nil : LineStream.unread) }
      stream.line = line
      stream.ended = { [weak self] error in
        self?.hasEnded.store(true, ordering: .relaxed)
        closed(self?.isClosing == true ? nil : error)
      }
      stream.start()
    }
  }

  /// Sends a line, including its line feed; does nothing after the end. If the daemon does not read and 64 MiB wait,
  /// the connection ends with `BledError.tooSlow`.
  public func send(_ line: Data) {
    guard unsent.add(line.count, ordering: .relaxed).newValue <= LineStream.unsentLimit else {
      return perform { self.stream.fail(LineStream.unread) }
    }
    perform { self.stream.send(line) }
  }

  /// Closes the connection; lines sent before are still written.
  public func close() {
    hasEnded.store(true, ordering: .relaxed)
    perform { [self] in
      isClosing = true
      stream.finish()
    }
  }

  /// False once it has ended, whichever side ended it.
  var isOpen: Bool { !hasEnded.load(ordering: .relaxed) }

  /// Calls `body` on the connection's queue: at once if the caller is on it, else after work enqueued earlier.
  func perform(_ body: @escaping @Sendable () -> Void) {
    if DispatchQueue.getSpecific(key: Self.key) == ObjectIdentifier(self) {
      body()
    } else {
      queue.async(execute: body)
    }
  }

  /// Calls `body` on the connection's queue, after everything that was given before, wherever the caller is.
  func enqueue(_ body: @escaping @Sendable () -> Void) { queue.async(execute: body) }
}

extension LineConnection: DaemonTransport {}
