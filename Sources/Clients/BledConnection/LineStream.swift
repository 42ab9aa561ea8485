import BledRPC
import Bluetooth
import FoundationEssentials

/// A connection to the daemon as lines of any content. It belongs to the thread or the queue of its waiter.
package final class LineStream: DaemonTransport {
  /// The limit for queued octets: 64 of the longest lines.
  package static let unsentLimit = 64 * LineFramer.defaultLimit

  /// Called for each line, without its line feed, with its descriptor.
  package var line: (Data, ReceivedDescriptor?) -> Void = { _, _ in }
  /// Called once at the end, also from inside `finish` and `fail`: with nil after `finish`, not after `close`.
  package var ended: (BluetoothError?) -> Void = { _ in }
  /// This number of octets was written.
  package var wrote: (Int) -> Void {
    get { stream.wrote }
    set { stream.wrote = newValue }
  }

  private let waiter: any SocketWaiter
  private let stream: SocketStream
  private var lines = ReceivedLines()
  package private(set) var isClosed = false

  /// Connects; nothing is read before `start`.
  /// - Throws: `BledError.daemonUnreachable` or `.notPermitted`, with a remedy in the message.
  package init(connectedTo path: String, on waiter: any SocketWaiter) throws(BluetoothError) {
    do throws(Errno) {
      let socket = try Socket(connectedTo: path)
      daemonUser = socket.peerUser
      stream = try SocketStream(socket, on: waiter)
    } catch {
      throw error.unreachable(path)
    }
    self.waiter = waiter
    stream.received = { [weak self] in self?.received($0, $1) }
    stream.ended = { [weak self] in self?.streamEnded($0) }
  }

  /// The user of the process that opened the daemon's socket, from the kernel; nil if the kernel does not report it.
  package let daemonUser: UInt32?

  package func start() { stream.start() }

  package func send(_ line: Data) {
    stream.send(line)
    if stream.unsent > Self.unsentLimit { waiter.later { [self] in fail(Self.unread) } }
  }

  /// The error of a daemon that does not read.
  package static var unread: BluetoothError {
    BledError.tooSlow.error("bled does not read: more than \(unsentLimit) octets wait to be sent")
  }

  /// Ends the connection when all lines are written.
  package func finish() { stream.finish() }

  /// Ends the connection at once.
  package func close() {
    isClosed = true
    stream.close()
    (line, ended) = ({ _, _ in }, { _ in })
    lines = ReceivedLines()
  }

  /// Ends the connection for a reason of its user.
  package func fail(_ error: BluetoothError?) {
    guard !isClosed else { return }
    let ended = ended
    close()
    ended(error)
  }

  private func received(_ octets: UnsafeRawBufferPointer, _ passed: ReceivedDescriptor?) {
    lines.append(octets, with: passed)
    do {
      while let (line, descriptor) = try lines.next() { self.line(line, descriptor) }
    } catch {
      fail(BledError.protocolViolation.error("bled sent a line of more than \(error.limit) bytes"))
    }
  }

  private func streamEnded(_ end: SocketStream.End) {
    switch end {
    case .finished: fail(nil)
    case .peer: fail(BledError.daemonUnreachable.error("bled ended the connection: it may have been stopped"))
    case .failed(let error):
      fail(BledError.daemonUnreachable.error("the connection to bled failed: \(error.text)"))
    }
  }
}

extension Errno {
  /// The reason why the daemon could not be reached, and the remedy.
  fileprivate func unreachable(_ path: String) -> BluetoothError {
    // Clients look for the daemon at its default path.
    let option = path == SocketPath.system ? "" : " --socket \(path)"
    let start = """
      Start it with "systemctl start bled.socket", or by hand: bled --adapter hci0\(option) \
      (without an adapter at hand: --adapter simulated)
      """
    switch self {
    case .noEntry, .notDirectory:
      return BledError.daemonUnreachable.error("bled is not running: there is no socket \(path). \(start)")
    case .refused:
      return BledError.daemonUnreachable.error("bled is not running: nothing listens on \(path). \(start)")
    case .noAccess, .notPermitted:
      return BledError.notPermitted.error(
        """
        no permission to use the socket \(path): members of its group may (see "ls -l \(path)"): \
        "sudo usermod -aG bluetooth $USER", then log in again; or use sudo
        """)
    default:
      return BledError.daemonUnreachable.error("bled cannot be reached at \(path): \(text)")
    }
  }
}
