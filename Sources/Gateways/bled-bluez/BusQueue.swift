import Bluetooth
import BlueZ
import CSystemd
import EventLoop

/// The messages on their way to the bus: counts the waiting ones, and the ones unread by programs.
final class BusQueue {
  /// The interval at which waiting messages are checked, in nanoseconds.
  private static let pause: Int64 = 5_000_000_000

  /// Pings a program, and calls back with true if it answered.
  var ask: (String, @escaping (Bool) -> Void) -> Void = { _, _ in }
  /// The user of a program; nil while unknown.
  var user: (String) -> UInt32? = { _ in nil }
  /// A program that had to wait may continue.
  var roomCame: () -> Void = {}
  /// The bus no longer accepts messages; with the number of calls refused for it.
  var stuck: (Int) -> Void = { _ in }

  private let bus: OpaquePointer
  private let loop: EventLoop
  private var backlog = Backlog()
  private var unread = UnreadMessages()
  private var timer: Timer?
  private(set) var isStuck = false

  init(_ bus: OpaquePointer, on loop: EventLoop) {
    self.bus = bus
    self.loop = loop
  }

  /// Sends a message, and drops it.
  /// - Parameters:
  ///   - size: its approximate size in octets.
  ///   - program: the only receiver; nil: all subscribers.
  func send(_ message: OpaquePointer, size: Int, to program: String?) {
    sd_bus_send(bus, message, nil)
    sd_bus_message_unref(message)
    backlog.add(size, at: Self.now)
    update()
    guard let program else { return }
    unread.sent(size, to: program, of: user(program))
    askIfNeeded(program)
  }

  private func update() {
    var count: UInt64 = 0
    let result = sd_bus_get_n_queued_write(bus, &count)
    backlog.update(result < 0 ? 0 : Int(clamping: count), at: Self.now)
    guard !backlog.isEmpty, timer == nil, !isStuck else { return }
    timer = loop.schedule(at: EventLoop.now + Self.pause) { [weak self] in self?.look() }
  }

  private func look() {
    timer = nil
    update()
    guard !isStuck, backlog.isStuck(at: Self.now) else { return }
    isStuck = true
    stuck(backlog.refused)
  }

  private static var now: Instant { Instant(nanoseconds: EventLoop.now) }

  /// True if the bus reads slower than it is written to.
  var isCongested: Bool {
    update()
    return backlog.isCongested
  }

  /// Returns true if there is room for the answer to a call.
  func hasRoom() -> Bool {
    update()
    return backlog.hasRoom()
  }

  // MARK: Programs that do not read

  /// True if a program's call may be handled; otherwise `roomCame` follows.
  func mayGoOn(_ program: String) -> Bool {
    let user = user(program)
    guard unread.mustWait(program, of: user) else { return true }
    askIfNeeded(program)
    // The messages that it waits for may belong to other programs of its user, which make no calls themselves.
    if let other = unread.askAnother(of: user) { askNow(other) }
    return false
  }

  private func askIfNeeded(_ program: String) {
    if unread.ask(program) { askNow(program) }
  }

  private func askNow(_ program: String) {
    ask(program) { [weak self] hasAnswered in
      guard let self else { return }
      if hasAnswered { unread.answered(program) } else { unread.silent(program, at: Self.now) }
      questionEnded()
    }
  }

  private func questionEnded() {
    if let other = unread.askAnother() { askNow(other) }
    roomCame()
  }

  /// A program has left the bus.
  func left(_ program: String) {
    unread.left(program)
    questionEnded()
  }

  /// Writes the messages that wait, unless the bus does not read.
  func flush() { if !isCongested { sd_bus_flush(bus) } }
}
