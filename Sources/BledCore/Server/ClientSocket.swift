import BledRPC
import EventLoop
import FoundationEssentials
import Glibc

/// One client's socket: cuts what it reads into lines, and writes those that wait for it, as many at once as there are.
///
/// | State    | Input                          | What happens                                              |
/// |----------|--------------------------------|-----------------------------------------------------------|
/// | reading  | octets                         | each whole line goes to the session                       |
/// | reading  | the session is congested       | lines wait in the framer, the socket is not read → paused |
/// | paused   | the session is relieved        | the lines that wait → reading                             |
/// | any      | the client sends no more       | a last line without line feed counts; once all is answered → closed |
/// | any      | the session ends               | what waits is written, for a second at most → closed      |
/// | any      | the connection breaks          | the daemon is told → closed                               |
///
/// A descriptor that a client passes along is not asked for: the kernel closes it when the octets beside it are read.
final class ClientSocket: SessionTransport {
  /// How long a session that ended may take to write what waits, in nanoseconds.
  private static let lastWords: Int64 = 1_000_000_000
  /// How much is read before other sources get their turn, in octets.
  private static let readBatch = 16 << 10
  /// How many batches are written before other sources get their turn.
  private static let writeBatches = 4

  private let descriptor: Int32
  private let loop: EventLoop
  private let daemon: Daemon
  /// Called once, after the socket is closed.
  private let onClose: (ClientSocket) -> Void
  private var watch: Watch?
  private var connection: SessionConnection?
  private var framer = LineFramer()
  /// The lines that are being written, and how many octets of them have left.
  private var outgoing: [Data] = []
  private var written = 0
  private var isReading = true
  private var isFlushScheduled = false
  private var isClosing = false
  private var hasInputEnded = false
  private var closeAlarm: Timer?

  /// Takes ownership of the descriptor and opens a session for it.
  /// - Throws: `EventLoopError` if it cannot be watched; it is closed then.
  init(_ descriptor: Int32, loop: EventLoop, daemon: Daemon, onClose: @escaping (ClientSocket) -> Void) throws {
    self.descriptor = descriptor
    self.loop = loop
    self.daemon = daemon
    self.onClose = onClose
    do {
      watch = try Watch(descriptor, on: loop) { [unowned self] readiness in ready(readiness) }
    } catch {
      Glibc.close(descriptor)
      throw error
    }
    connection = daemon.open(self, credentials: PeerCredentials(ofSocket: descriptor))
  }

  /// Ends the connection at once; the daemon is told.
  func disconnect() {
    guard watch != nil else { return }
    watch?.cancel()
    watch = nil
    closeAlarm?.cancel()
    Glibc.close(descriptor)
    if let connection { daemon.closed(connection) }
    connection = nil
    onClose(self)
  }

  // MARK: The session

  func linesWait() {
    guard !isFlushScheduled else { return }
    isFlushScheduled = true
    // A strong reference: the socket stays until everything is written.
    loop.execute { [self] in
      isFlushScheduled = false
      flush()
    }
  }

  func setReading(_ wanted: Bool) {
    isReading = wanted
    updateInterest()
    guard wanted else { return }
    loop.execute { [weak self] in self?.resume() }
  }

  func close() {
    isClosing = true
    updateInterest()
    closeAlarm = loop.schedule(at: EventLoop.now + Self.lastWords) { [weak self] in self?.disconnect() }
    linesWait()
  }

  // MARK: Reading

  private func updateInterest() {
    var interest: Watch.Readiness = isReading && !isClosing && !hasInputEnded ? .readable : []
    if !outgoing.isEmpty { interest.insert(.writable) }
    watch?.interest = interest
  }

  private func ready(_ readiness: Watch.Readiness) {
    if readiness.contains(.failed) { return finish() }
    if readiness.contains(.writable) { flush() }
    if readiness.contains(.readable), canRead { _ = read() }
  }

  /// The client is gone. It cannot be answered, but what it sent before counts; it is at most what the kernel's
  /// buffer holds.
  private func finish() {
    while canRead, read() {}
    disconnect()
  }

  private var canRead: Bool { watch != nil && isReading && !isClosing && !hasInputEnded }

  /// - Returns: false if there was nothing to read.
  private func read() -> Bool {
    let count = withUnsafeTemporaryAllocation(byteCount: Self.readBatch, alignment: 16) { buffer in
      let count = recv(descriptor, buffer.baseAddress, buffer.count, Int32(MSG_DONTWAIT))
      if count > 0 { framer.append(UnsafeRawBufferPointer(rebasing: buffer[..<count])) }
      return count
    }
    if count < 0 {
      if errno != EAGAIN, errno != EINTR { disconnect() }
      return false
    }
    if count == 0 {
      endInput()
      return false
    }
    readLines()
    connection?.hold(framer.held)
    return true
  }

  private func endInput() {
    hasInputEnded = true
    updateInterest()
    if framer.held > 0 { framer.append(CollectionOfOne(UInt8(ascii: "\n"))) }
    readLines()
    linesWait()
  }

  private func resume() {
    readLines()
    connection?.hold(framer.held)
  }

  private func readLines() {
    while isReading, !isClosing, let connection {
      framer.limit = connection.longestLine
      do {
        guard let line = try framer.next() else { return }
        connection.receive(line)
      } catch {
        connection.receive(error)
      }
    }
  }

  // MARK: Writing

  private func flush() {
    for _ in 0..<Self.writeBatches {
      guard watch != nil, let connection else { return }
      if outgoing.isEmpty { outgoing = connection.takeLines() }
      if outgoing.isEmpty {
        updateInterest()
        if isClosing || (hasInputEnded && connection.isDone && framer.held == 0) { disconnect() }
        return
      }
      guard write() else { return updateInterest() }
    }
    linesWait()
  }

  /// Writes the lines with one system call.
  /// - Returns: false if the rest has to wait, or the connection is broken.
  private func write() -> Bool {
    let total = outgoing.reduce(0) { $0 + $1.count }
    let count =
      if outgoing.count == 1 {
        outgoing[0].withUnsafeBytes { send($0) }
      } else {
        // Lines are short: copying them is cheaper than having the kernel gather them.
        withUnsafeTemporaryAllocation(byteCount: total, alignment: 16) { buffer in
          var end = 0
          for line in outgoing {
            // Not Data's own copyBytes, which is generic and looks up its types for each line.
            line.withUnsafeBytes { octets in
              UnsafeMutableRawBufferPointer(rebasing: buffer[end...]).copyMemory(from: octets)
              end += octets.count
            }
          }
          return send(UnsafeRawBufferPointer(buffer))
        }
      }
    if count < 0 {
      if errno != EAGAIN, errno != EINTR { finish() }
      return false
    }
    written += count
    guard written == total else { return false }
    outgoing = []
    written = 0
    return true
  }

  /// Sends what has not left yet.
  private func send(_ octets: UnsafeRawBufferPointer) -> Int {
    let rest = UnsafeRawBufferPointer(rebasing: octets[written...])
    return Glibc.send(
      descriptor, rest.baseAddress, rest.count, Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL))
  }
}
