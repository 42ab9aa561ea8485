import CBlueZ
import Glibc
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix

/// Tells the event loop when Bluetooth sockets are ready.
///
/// NIO would gather several packets for such a socket into one write, cannot accept or connect on it, and stops reading at an
/// error although packets may lie behind it. So the sockets are read and written by their owner, on the event loop, and
/// one thread waits for their readiness: edge-triggered, so a socket that nobody has emptied yet wakes nobody again.
final class Poller {
  typealias Token = UInt64

  /// What a socket is ready for.
  struct Readiness: OptionSet {
    let rawValue: UInt32
    static let readable = Readiness(rawValue: EPOLLIN.rawValue)
    static let writable = Readiness(rawValue: EPOLLOUT.rawValue)
    static let failed = Readiness(rawValue: EPOLLERR.rawValue | EPOLLHUP.rawValue)
  }

  /// The half that the waiting thread sees.
  private final class Waiter: Sendable {
    private static let stop: Token = 0
    let epoll: Int32
    private let wakeUp: Int32
    private let eventLoop: any EventLoop
    private let pending = NIOLockedValueBox<[Token: UInt32]>([:])

    init(_ eventLoop: any EventLoop) throws(SystemError) {
      self.eventLoop = eventLoop
      epoll = epoll_create1(Int32(EPOLL_CLOEXEC))
      wakeUp = eventfd(0, Int32(EFD_CLOEXEC))
      guard epoll >= 0, wakeUp >= 0 else { throw SystemError(result: -errno) }
      try watch(wakeUp, Self.stop, EPOLLIN.rawValue)
    }

    func watch(
      _ descriptor: Int32, _ token: Token, _ events: UInt32, operation: Int32 = EPOLL_CTL_ADD
    ) throws(SystemError) {
      var event = epoll_event(events: events, data: epoll_data_t(u64: token))
      guard epoll_ctl(epoll, operation, descriptor, &event) == 0 else { throw SystemError(result: -errno) }
    }

    func end() { eventfd_write(wakeUp, 1) }

    /// What became ready since it was last asked, in exchange for a table without entries.
    func take(for empty: inout [Token: UInt32]) { pending.withLockedValue { swap(&$0, &empty) } }

    /// Waits until `end`.
    func run(_ deliver: @escaping @Sendable () -> Void) {
      var events = [epoll_event](repeating: epoll_event(), count: 64)
      while true {
        let count = Int(epoll_wait(epoll, &events, Int32(events.count), -1))
        if count < 0, errno != EINTR { break }
        let ready = events.prefix(max(0, count))
        if ready.contains(where: { $0.data.u64 == Self.stop }) { break }
        let isFirst = pending.withLockedValue { pending in
          let wasEmpty = pending.isEmpty
          for event in ready { pending[event.data.u64, default: 0] |= event.events }
          return wasEmpty && !pending.isEmpty
        }
        if isFirst { eventLoop.execute(deliver) }
      }
      Glibc.close(epoll)
      Glibc.close(wakeUp)
    }
  }

  private let waiter: Waiter
  private let threads: NIOThreadPool
  private var handlers: [Token: (Readiness) -> Void] = [:]
  private var lastToken: Token = 0
  /// Empty between deliveries; kept for its memory.
  private var ready: [Token: UInt32] = [:]

  /// Starts the thread.
  init(eventLoop: any EventLoop) throws(SystemError) {
    let waiter = try Waiter(eventLoop)
    self.waiter = waiter
    threads = NIOThreadPool(numberOfThreads: 1)
    threads.start()
    let weakSelf = NIOLoopBound(WeakPoller(self), eventLoop: eventLoop)
    threads.submit { _ in waiter.run { weakSelf.value.poller?.deliver() } }
  }

  private struct WeakPoller {
    weak var poller: Poller?
    init(_ poller: Poller) { self.poller = poller }
  }

  private static let input = EPOLLIN.rawValue | EPOLLRDHUP.rawValue | EPOLLET.rawValue

  /// Tells of what comes and of the end from now on.
  func add(_ descriptor: Int32, _ handler: @escaping (Readiness) -> Void) throws(SystemError) -> Token {
    lastToken += 1
    handlers[lastToken] = handler
    do { try waiter.watch(descriptor, lastToken, Self.input) } catch {
      handlers[lastToken] = nil
      throw error
    }
    return lastToken
  }

  /// Tells of room for writing, too, or no more; if there is some, at once. Otherwise each packet that leaves the kernel would
  /// wake the thread and the event loop.
  func watch(_ token: Token, _ descriptor: Int32, forRoom: Bool) throws(SystemError) {
    let events = forRoom ? Self.input | EPOLLOUT.rawValue : Self.input
    try waiter.watch(descriptor, token, events, operation: EPOLL_CTL_MOD)
  }

  func replace(_ token: Token, _ handler: @escaping (Readiness) -> Void) {
    if handlers[token] != nil { handlers[token] = handler }
  }

  func remove(_ token: Token, _ descriptor: Int32) {
    handlers[token] = nil
    epoll_ctl(waiter.epoll, EPOLL_CTL_DEL, descriptor, nil)
  }

  /// Ends the thread. Sockets have to be closed before.
  func close() {
    handlers = [:]
    waiter.end()
    threads.shutdownGracefully { _ in }
  }

  private func deliver() {
    waiter.take(for: &ready)
    for (token, events) in ready {
      var readiness = Readiness(rawValue: events)
      // The end is told even where packets are not wanted.
      if events & EPOLLRDHUP.rawValue != 0 { readiness.insert(.failed) }
      handlers[token]?(readiness)
    }
    ready.removeAll(keepingCapacity: true)
  }
}
