import Bluetooth
import EventLoop
import Glibc
import Synchronization

/// Writes a log's lines to a descriptor, and never makes the caller wait: the descriptor may be a pipe without an
/// active reader.
///
/// A regular file accepts a line at once. Anything else is written by a thread, which may wait: setting `O_NONBLOCK`
/// would change the descriptor for all processes sharing it, and calling `poll` first does not help if another one of
/// them writes meanwhile. The lines for the thread are packets in a socket pair, limited by its buffer; lines without
/// room are counted, and reported when there is room again.
///
/// With the journal at the other end the thread sends lines as entries with fields. An entry refused by the journal
/// goes to the descriptor as text; the next accepted entry reports their number.
final class LogWriter: Sendable {
  /// The longest line, with its line feed: the lines of processes sharing a pipe do not mix (`PIPE_BUF`, pipe(7)).
  static let longestLine = 4096
  /// The longest entry for the journal: that line, and fields.
  private static let longestEntry = 2 * longestLine
  /// Length of the header with the entry's length, in octets.
  private static let entryHead = 2

  private struct State {
    var repetitions = LogRepetitions()
    /// Lines without room.
    var lost = 0
    /// Lines accepted by the journal as text only.
    var withoutFields = 0
  }

  private let descriptor: CInt
  private let isFile: Bool
  private let journal: JournalSocket?
  /// The callers' end of the socket pair, and the thread's.
  private let (input, output): (CInt, CInt)
  private let state = Mutex(State())
  private let format: @Sendable (LogRepetitions.Line) -> [UInt8]

  /// The reason why there is no thread.
  struct Problem: Error, CustomStringConvertible {
    /// The failed call and the reason.
    let description: String

    fileprivate init(_ call: String, _ code: CInt) {
      description = "the log cannot be written: \(call): \(String(cString: strerror(code)))"
    }
  }

  /// Starts the thread.
  /// - Parameters:
  ///   - descriptor: where to write; it must stay open.
  ///   - journal: where entries with fields go, if the descriptor leads to the journal.
  ///   - format: returns a line's octets, at most `longestLine` with the line feed. Called on any thread.
  init(
    _ descriptor: CInt, journal: JournalSocket? = nil, format: @escaping @Sendable (LogRepetitions.Line) -> [UInt8]
  ) throws(Problem) {
    self.descriptor = descriptor
    self.journal = journal
    self.format = format
    var status = stat()
    isFile = journal == nil && fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
    var ends: [CInt] = [-1, -1]
    guard socketpair(AF_UNIX, CInt(SOCK_SEQPACKET.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
      throw Problem("socketpair", errno)
    }
    (input, output) = (ends[0], ends[1])
    let context = Unmanaged.passRetained(self)
    var thread = pthread_t()
    let code = pthread_create(
      &thread, nil,
      { context in
        if let context { Unmanaged<LogWriter>.fromOpaque(context).takeRetainedValue().serve() }
        return nil
      }, context.toOpaque())
    guard code == 0 else {
      close(output)
      context.release()
      throw Problem("pthread_create", code)
    }
    pthread_detach(thread)
  }

  deinit { close(input) }

  /// Writes a line, or counts it.
  func log(_ line: LogRepetitions.Line, of kind: LogRepetitions.Kind) {
    guard state.withLock({ $0.repetitions.admits(line, of: kind, at: Self.now) }) else { return }
    if isFile { write(format(line)) }
    // With a file the packet only wakes the thread, which then has a timeout.
    let packet = isFile ? [0] : packet(line)
    let sent = packet.withUnsafeBytes { send(input, $0.baseAddress, $0.count, CInt(MSG_DONTWAIT) | CInt(MSG_NOSIGNAL)) }
    if sent < 0, !isFile { state.withLock { $0.lost += 1 } }
  }

  /// Ends the log, and waits until everything is written.
  /// - Parameter timeout: maximum time, in milliseconds.
  func end(within timeout: CInt) {
    shutdown(input, CInt(SHUT_WR))
    var waiting = pollfd(fd: input, events: Int16(POLLIN), revents: 0)
    poll(&waiting, 1, timeout)
  }

  /// A line for the thread: with the journal its entry, preceded by its length and followed by the text.
  private func packet(_ line: LogRepetitions.Line) -> [UInt8] {
    guard journal != nil else { return format(line) }
    var entry = JournalEntry.octets(of: line)
    if entry.count > Self.longestEntry { entry = [] }
    return [UInt8(truncatingIfNeeded: entry.count), UInt8(truncatingIfNeeded: entry.count >> 8)] + entry + format(line)
  }

  private static var now: Instant { Instant(nanoseconds: EventLoop.now) }

  // MARK: The thread

  private func serve() {
    var packet = [UInt8](repeating: 0, count: Self.entryHead + Self.longestEntry + Self.longestLine)
    var isEnd = false
    while !isEnd {
      var waiting = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
      poll(&waiting, 1, timeout)
      let count = recv(output, &packet, packet.count, CInt(MSG_DONTWAIT))
      isEnd = count == 0
      if count > 1 { deliver(packet[..<count]) }
      let lines = state.withLock { state in
        var lines = state.repetitions.due(at: Self.now, isEnd: isEnd)
        // The lost lines follow all those still to be written.
        if state.lost > 0, count <= 0 {
          let missing = state.lost == 1 ? "1 line of the log is" : "\(state.lost) lines of the log are"
          lines.append(.init(level: .warning, text: "\(missing) missing: it was not read"))
          state.lost = 0
        }
        return lines
      }
      for line in lines { deliver(self.packet(line)[...]) }
    }
    close(output)
  }

  /// The wait for a line, in milliseconds for poll(2).
  private var timeout: CInt {
    state.withLock { state in
      if state.lost > 0 { return 0 }
      guard let deadline = state.repetitions.deadline else { return -1 }
      return CInt(clamping: max(0, Self.now.duration(to: deadline).wholeNanoseconds) / 1_000_000 + 1)
    }
  }

  /// Gives a packet to the journal, or else its text to the descriptor.
  private func deliver(_ packet: ArraySlice<UInt8>) {
    guard let journal else { return write(packet) }
    let head = packet.prefix(Self.entryHead).reversed().reduce(0) { $0 << 8 | Int($1) }
    let entry = packet.dropFirst(Self.entryHead).prefix(head)
    guard !entry.isEmpty, journal.send(entry) else {
      state.withLock { $0.withoutFields += 1 }
      return write(packet.dropFirst(Self.entryHead + head))
    }
    let count = state.withLock { state in
      defer { state.withoutFields = 0 }
      return state.withoutFields
    }
    guard count > 0 else { return }
    let lines = count == 1 ? "1 line of the log has" : "\(count) lines of the log have"
    let text = "\(lines) no fields: the journal had no room"
    deliver(self.packet(.init(level: .warning, text: text))[...])
  }

  private func write(_ octets: some Collection<UInt8>) {
    var rest = Array(octets)[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count > 0 {
        rest = rest.dropFirst(count)
      } else if count < 0, errno == EAGAIN {
        var waiting = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        poll(&waiting, 1, -1)
      } else if count == 0 || errno != EINTR {
        // The reader has gone, or the disk is full.
        return
      }
    }
  }
}
