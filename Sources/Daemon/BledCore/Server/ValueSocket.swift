import Bluetooth
import DequeModule
import EventLoop
import Glibc

/// The daemon's end of a SOCK_SEQPACKET pair for one characteristic's values, one packet each. The program has the
/// other end.
///
/// | State   | Input                              | Effect                                                          |
/// |---------|------------------------------------|-----------------------------------------------------------------|
/// | reading | a packet                           | `received`                                                      |
/// | reading | the program has closed its end, or sends no more | `closed`, after all packets that it had written                 |
/// | paused  | packets                            | they stay in the kernel, and its buffer slows the program       |
/// | any     | a value for the program            | written; without room it waits, up to `maximumWaiting`, then refused |
/// | any     | room, and none waits               | `drained`                                                       |
/// | closed  | anything                           | nothing                                                         |
///
/// All this work is done in the turns of its session's user, see `ClientTurns`.
final class ValueSocket: TurnTaker {
  enum Event {
    /// A packet from the program. A packet longer than a value is truncated; `length` is its full length.
    case received([UInt8], length: Int)
    /// The program has read all waiting values.
    case drained
    /// The program has closed its end, and will not read waiting values.
    case abandoned
    /// The program has closed its end, or sends no more, and all its packets were read.
    case closed
  }

  /// Maximum values queued for the program besides the kernel's buffer.
  static let maximumWaiting = 256
  /// The longest value (Core 5.4, Vol 3, Part F, 3.2.9).
  private static let longest = 512

  /// Called in the session's turns until `close`.
  var onEvent: ((Event) -> Void)?
  var isWaiting = false
  private let session: Session
  private let turns: ClientTurns
  private let descriptor: Int32
  private var watch: Watch?
  private var isReading = false
  /// True if there may be input.
  private var isReadable = true
  private var isInTurn = false
  /// The values not read by the program.
  private var waiting: Deque<[UInt8]> = []
  private var isOpen = true
  /// True if the program is known to have closed its end.
  private(set) var isGone = false

  /// Makes a pair for a session.
  /// - Returns: our end, which does not read before `resume`, and the program's.
  /// - Throws: `BledError.limitReached`.
  static func pair(
    for session: Session, on loop: EventLoop, turns: ClientTurns
  ) throws(BluetoothError) -> (socket: ValueSocket, passed: PassedDescriptor) {
    let (rules, account) = (session.rules, session.account)
    try rules.admit(.acquisitions, of: session, own: session.acquisitions, all: account.acquisitions)
    try rules.admit(.acquisitions, total: rules.acquisitions, own: account.acquisitions)
    var ends: [Int32] = [-1, -1]
    let kind = Int32(SOCK_SEQPACKET.rawValue | SOCK_CLOEXEC.rawValue)
    guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else {
      throw BledError.limitReached.error(
        "no socket can be made: \(String(cString: strerror(errno))); raise LimitNOFILE in bled's unit")
    }
    let passed = PassedDescriptor(ends[1])
    do {
      return (try ValueSocket(ends[0], session, loop, turns), passed)
    } catch {
      throw BledError.limitReached.error("a socket cannot be watched: \(error)")
    }
  }

  private init(_ descriptor: Int32, _ session: Session, _ loop: EventLoop, _ turns: ClientTurns) throws(EventLoopError)
  {
    self.descriptor = descriptor
    self.session = session
    self.turns = turns
    session.acquisitions += 1
    session.account.acquisitions += 1
    watch = try Watch(descriptor, on: loop, interest: []) { [unowned self] _ in
      isReadable = true
      turns.ready(self)
    }
  }

  deinit { close() }

  var user: UInt32? { session.user }

  /// True if the program reads so slowly that values wait here.
  var isCongested: Bool { !waiting.isEmpty }

  /// Reads from now on; earlier packets are read at once if it is the user's turn.
  func resume() {
    guard isOpen else { return }
    isReading = true
    guard !isInTurn else { return }
    isReadable = true
    turns.ready(self)
  }

  /// Reads no more until `resume`.
  func pause() { isReading = false }

  /// Passes a value to the program.
  /// - Returns: false if too many wait already; it is dropped.
  func send(_ value: [UInt8]) -> Bool {
    if waiting.isEmpty, write(value) { return true }
    guard waiting.count < Self.maximumWaiting, value.count <= session.room else { return false }
    waiting.append(value)
    session.charge(value.count)
    updateWatch()
    return true
  }

  /// Closes it without further events.
  /// - Returns: the number of unread packets from the program.
  @discardableResult
  func close() -> Int {
    guard isOpen else { return 0 }
    var unread = 0
    // From here on it writes nothing more, so there are at most the packets in the kernel's buffer.
    shutdown(descriptor, Int32(SHUT_RDWR))
    while case .packet? = read() { unread += 1 }
    isOpen = false
    onEvent = nil
    watch?.cancel()
    watch = nil
    Glibc.close(descriptor)
    session.charge(-waiting.reduce(0) { $0 + $1.count })
    waiting = []
    session.acquisitions -= 1
    session.account.acquisitions -= 1
    return unread
  }

  // MARK: Turns

  func watch(_ isOn: Bool) {
    if isOn { updateWatch() } else { watch?.isEnabled = false }
  }

  func takeTurn(until deadline: Int64) -> Bool {
    isInTurn = true
    defer { isInTurn = false }
    flush()
    while isOpen, isReading, isReadable {
      switch read() {
      case .packet(let octets, let length): onEvent?(.received(octets, length: length))
      case .end:
        isReading = false
        onEvent?(.closed)
      case nil: isReadable = false
      }
      if EventLoop.now >= deadline { return isOpen && isReading && isReadable }
    }
    return false
  }

  private func updateWatch() {
    var interest: Watch.Readiness = isReading ? .readable : []
    if !waiting.isEmpty { interest.insert(.writable) }
    watch?.interest = interest
    // The peer's end is always reported: without a reader it would be reported repeatedly.
    if !isWaiting { watch?.isEnabled = !interest.isEmpty }
  }

  // MARK: Packets

  private enum Received {
    case packet([UInt8], length: Int)
    case end
  }

  /// - Returns: nil if there is nothing for now.
  private func read() -> Received? {
    let (octets, length) = withUnsafeTemporaryAllocation(byteCount: Self.longest, alignment: 16) { buffer in
      let length = recv(descriptor, buffer.baseAddress, buffer.count, Int32(MSG_DONTWAIT | MSG_TRUNC))
      guard length > 0 else { return ([UInt8](), length) }
      return ([UInt8](UnsafeRawBufferPointer(rebasing: buffer[..<min(length, buffer.count)])), length)
    }
    if length > 0 { return .packet(octets, length: length) }
    // Reported once, before the packets of a program that closed its end with unread data (unix(7)).
    if length < 0, errno == ECONNRESET { return read() }
    guard length == 0 else { return errno == EAGAIN || errno == EINTR ? nil : .end }
    // A value without octets, or the end.
    return hasEnded ? .end : .packet([], length: 0)
  }

  /// True if the other end is closed, or sends no more (shutdown(2)), and nothing is left to be read.
  private var hasEnded: Bool {
    let end = Int16(POLLHUP) | pollfd.halfClosed
    var state = pollfd(fd: descriptor, events: Int16(POLLIN) | end, revents: 0)
    guard poll(&state, 1, 0) == 1, state.revents & end != 0 else { return false }
    var left: Int32 = 0
    return ioctl(descriptor, UInt(FIONREAD), &left) != 0 || left == 0
  }

  private func flush() {
    guard !waiting.isEmpty else { return }
    while let next = waiting.first, write(next) {
      waiting.removeFirst()
      session.charge(-next.count)
    }
    if waiting.isEmpty { onEvent?(isGone ? .abandoned : .drained) }
  }

  /// - Returns: false if there is no room. Packets without a receiver count as sent.
  private func write(_ value: [UInt8]) -> Bool {
    let count = value.withUnsafeBytes {
      Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL))
    }
    if count >= 0 { return true }
    guard errno != EAGAIN, errno != EINTR, errno != ENOBUFS else { return false }
    isGone = true
    return true
  }
}

/// Makes the sockets for values; there are none where no event loop runs.
struct ValueSockets {
  let loop: EventLoop
  let turns: ClientTurns

  /// A pair for a session.
  /// - Throws: `BledError.limitReached`.
  func pair(for session: Session) throws(BluetoothError) -> (socket: ValueSocket, passed: PassedDescriptor) {
    try ValueSocket.pair(for: session, on: loop, turns: turns)
  }
}
