import BledRPC
import EventLoop
import FoundationEssentials
import Glibc

/// A client's socket: splits its octets into lines, and writes the queued lines in batches.
///
/// | State   | Input                      | Effect                                                    |
/// |---------|----------------------------|-----------------------------------------------------------|
/// | reading | octets, and it is its turn | each whole line goes to the session                       |
/// | reading | the session is congested   | lines wait in the framer, the socket is not read → paused |
/// | paused  | the session is relieved    | the lines that wait → reading                             |
/// | any     | the client sends no more   | a last line without line feed counts; once all is answered → closed |
/// | any     | the session ends           | lines read are dropped; waiting ones are written, for a second at most → closed, see `Farewells` |
/// | any     | the connection breaks      | earlier lines are read, then the daemon is notified → closed |
///
/// All this work is done in the client's turns, see `ClientTurns`.
///
/// Descriptors from a client are not requested: the kernel closes them when the octets beside them are read. In the
/// other direction a line may carry one: it is written alone, and the descriptor goes with its first octet.
final class ClientSocket: SessionTransport, TurnTaker {
  /// The time to write the waiting lines after the session has ended, in nanoseconds.
  private static let lastWords: Int64 = 1_000_000_000
  /// Octets per read.
  private static let readBatch = 16 << 10
  /// Batches written in a turn.
  private static let writeBatches = 4

  private enum State {
    /// Paused while the session is congested.
    case open(isPaused: Bool)
    /// The session has ended; its last lines are written until the alarm.
    case closing(Timer)
    case closed
  }

  /// The input, as far as the loop or a read has shown it.
  private enum Input { case awaited, readable, ended }

  private let descriptor: Int32
  private let loop: EventLoop
  private let host: any SessionOpener
  private let turns: ClientTurns
  private let farewells: Farewells
  /// The program's user, or the user it acts for.
  var user: UInt32? { connection?.credentials?.user ?? peer }
  private let peer: UInt32?
  /// True while it waits for its turn.
  var isWaiting = false
  private var isInTurn = false
  /// Called once, after the socket is closed.
  private let onClose: (ClientSocket) -> Void
  private var watch: Watch?
  private var connection: SessionConnection?
  private var framer = LineFramer()
  /// The lines being written, and the octets of them already sent.
  private var outgoing = Outbox.Batch()
  private var written = 0
  private let unread: UnreadDescriptors
  private var state = State.open(isPaused: false)
  private var input = Input.awaited
  private var isFlushScheduled = false
  private var pace = ReportPace()
  private var reportAlarm: Timer?
  /// True if answers have no receiver.
  private var isGone = false

  /// Takes ownership of the descriptor and opens a session for it.
  /// - Throws: `EventLoopError` if it cannot be watched; it is closed then.
  init(
    _ descriptor: Int32, loop: EventLoop, host: any SessionOpener, turns: ClientTurns, farewells: Farewells,
    onClose: @escaping (ClientSocket) -> Void
  ) throws(EventLoopError) {
    let credentials = PeerCredentials(ofSocket: descriptor)
    self.descriptor = descriptor
    unread = UnreadDescriptors(of: descriptor)
    self.loop = loop
    self.host = host
    self.turns = turns
    self.farewells = farewells
    self.onClose = onClose
    peer = credentials?.user
    do throws(EventLoopError) {
      watch = try Watch(descriptor, on: loop) { [unowned self] readiness in
        if readiness.contains(.failed) { isGone = true }
        if readiness.contains(.readable), input != .ended { input = .readable }
        turns.ready(self)
      }
    } catch {
      Glibc.close(descriptor)
      throw error
    }
    connection = host.open(self, credentials: credentials)
  }

  /// Ends the connection at once; the daemon is notified.
  func disconnect() { end { Glibc.close($0) } }

  /// Ends the connection, and does the rest with its descriptor.
  private func end(_ close: (Int32) -> Void) {
    switch state {
    case .closed: return
    case .closing(let alarm): alarm.cancel()
    case .open: break
    }
    state = .closed
    watch?.cancel()
    watch = nil
    reportAlarm?.cancel()
    unread.end()
    close(descriptor)
    if let connection { host.closed(connection) }
    connection = nil
    outgoing = Outbox.Batch()
    onClose(self)
  }

  // MARK: The session

  func linesWait() {
    // A turn ends with writing.
    guard !isInTurn, !isWaiting, !isFlushScheduled else { return }
    isFlushScheduled = true
    // A strong reference: the socket stays until everything is written.
    loop.execute { [self] in
      isFlushScheduled = false
      turns.ready(self)
    }
  }

  func reportsWait() {
    guard let due = pace.due(at: EventLoop.now) else { return linesWait() }
    reportAlarm?.cancel()
    reportAlarm = loop.schedule(at: due) { [weak self] in self?.linesWait() }
  }

  func setReading(_ wanted: Bool) {
    if case .open = state { state = .open(isPaused: !wanted) }
    updateInterest()
    if wanted { turns.add(self) }
  }

  func close() {
    guard case .open = state else { return }
    state = .closing(loop.schedule(at: EventLoop.now + Self.lastWords) { [weak self] in self?.disconnect() })
    updateInterest()
    linesWait()
  }

  // MARK: Reading

  private func updateInterest() {
    var interest: Watch.Readiness = canRead ? .readable : []
    if !outgoing.lines.isEmpty { interest.insert(.writable) }
    watch?.interest = interest
  }

  func watch(_ isOn: Bool) { watch?.isEnabled = isOn }

  private var isReading: Bool { if case .open(isPaused: false) = state { true } else { false } }

  private var canRead: Bool { isReading && input != .ended }

  private var isClosed: Bool { if case .closed = state { true } else { false } }

  func takeTurn(until deadline: Int64) -> Bool {
    isInTurn = true
    let hasMoreInput = handleInput(until: deadline)
    isInTurn = false
    let hasMoreOutput = flush()
    return !isClosed && (hasMoreInput || hasMoreOutput)
  }

  /// Handles the lines read before, then new ones.
  /// - Returns: true if there are more.
  private func handleInput(until deadline: Int64) -> Bool {
    if framer.buffered > 0, !handleLines(until: deadline) { return true }
    while canRead, input == .readable || isGone, read() {
      guard handleLines(until: deadline) else { return true }
    }
    // Data sent before the client disconnected is still handled; it is at most the kernel's buffer.
    if isGone { disconnect() }
    return false
  }

  /// - Returns: false if there was nothing to read.
  private func read() -> Bool {
    let count = withUnsafeTemporaryAllocation(byteCount: Self.readBatch, alignment: 16) { buffer in
      let count = recv(descriptor, buffer.baseAddress, buffer.count, Int32(MSG_DONTWAIT))
      if count > 0 { framer.append(UnsafeRawBufferPointer(rebasing: buffer[..<count])) }
      // The loop reports more input.
      input = .awaited
      return count
    }
    if count < 0, errno != EAGAIN, errno != EINTR { isGone = true }
    if count == 0 {
      input = .ended
      updateInterest()
      // The last line may lack its line feed.
      if framer.buffered > 0 { framer.append(CollectionOfOne(UInt8(ascii: "\n"))) }
    }
    return count >= 0
  }

  /// - Returns: false if the time was over before all lines were handled.
  private func handleLines(until deadline: Int64) -> Bool {
    defer { connection?.charge(framer.buffered) }
    while isReading, let connection {
      framer.limit = connection.longestLine
      do {
        guard let line = try framer.next() else { return true }
        connection.receive(line)
      } catch {
        connection.receive(error)
      }
      if EventLoop.now >= deadline { return false }
    }
    return true
  }

  // MARK: Writing

  /// - Returns: true if more could be written.
  private func flush() -> Bool {
    for _ in 0..<Self.writeBatches {
      guard let connection else { return false }
      if outgoing.lines.isEmpty {
        outgoing = connection.removeLines()
        if !outgoing.lines.isEmpty {
          reportAlarm?.cancel()
          pace.wrote(at: EventLoop.now)
        }
      }
      if outgoing.lines.isEmpty {
        updateInterest()
        switch (state, input) {
        case (.closing, .awaited), (.closing, .readable): end(farewells.add)
        case (.closing, .ended): disconnect()
        case (_, .ended) where connection.isDone && framer.buffered == 0: disconnect()
        default: break
        }
        return false
      }
      guard write() else {
        updateInterest()
        return false
      }
    }
    return true
  }

  /// Writes the lines with one system call.
  /// - Returns: false if the rest has to wait, or the connection is broken.
  private func write() -> Bool {
    let lines = outgoing.lines
    let total = lines.reduce(0) { $0 + $1.count }
    let count =
      if lines.count == 1 {
        lines[0].withUnsafeBytes { send($0) }
      } else {
        // Lines are short: copying them is cheaper than having the kernel gather them.
        withUnsafeTemporaryAllocation(byteCount: total, alignment: 16) { buffer in
          var end = 0
          for line in lines {
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
      if errno != EAGAIN, errno != EINTR {
        isGone = true
        turns.add(self)
      }
      return false
    }
    unread.took(count)
    written += count
    guard written == total else { return false }
    outgoing = Outbox.Batch()
    written = 0
    return true
  }

  /// Sends the unsent lines.
  private func send(_ octets: UnsafeRawBufferPointer) -> Int {
    let rest = UnsafeRawBufferPointer(rebasing: octets[written...])
    let flags = Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL)
    guard let passed = outgoing.descriptor else {
      return Glibc.send(descriptor, rest.baseAddress, rest.count, flags)
    }
    let count = passed.send(with: rest, on: descriptor, flags: flags)
    if count > 0 { passed.sent(unread) }
    // The kernel lets no more of them be on their way, for all readers together: this client must not pay for it with
    // its session.
    if count > 0 || errno == ETOOMANYREFS { outgoing.descriptor = nil }
    return count < 0 && errno == ETOOMANYREFS ? Glibc.send(descriptor, rest.baseAddress, rest.count, flags) : count
  }
}
