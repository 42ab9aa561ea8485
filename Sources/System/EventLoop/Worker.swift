import Glibc

/// A thread for blocking calls, such as those on files. It starts with the first of them, and executes them in
/// sequence.
///
/// Work and results pass through a socket pair, so nothing is locked and the loop sees a result as it sees anything
/// else.
public final class Worker {
  private typealias Outcome = any Sendable

  /// A job on its way to the thread.
  private final class Job: Sendable {
    let work: @Sendable () -> Outcome
    init(_ work: @escaping @Sendable () -> Outcome) { self.work = work }
  }

  /// A job on its way back.
  private final class Finished: Sendable {
    let outcome: Outcome
    init(_ outcome: Outcome) { self.outcome = outcome }
  }

  private let loop: EventLoop
  /// The loop's end of the socket pair; nil before the first work.
  private var end: (descriptor: Int32, watch: Watch)?
  private var waiting: [(Outcome) -> Void] = []

  /// Makes a worker; its results arrive on `loop`.
  public init(loop: EventLoop) { self.loop = loop }

  deinit {
    guard let end else { return }
    end.watch.cancel()
    while Self.receive(Finished.self, from: end.descriptor, waiting: false) != nil {}
    // The thread does its remaining work, and ends.
    close(end.descriptor)
  }

  /// Enqueues `work` for the thread, after earlier work.
  /// - Parameter done: called on the loop, never from inside this call.
  public func submit<Value: Sendable>(
    _ work: @escaping @Sendable () throws -> Value, _ done: @escaping (Result<Value, any Error>) -> Void
  ) {
    let job = Job { Result<Value, any Error>(catching: work) }
    do throws(EventLoopError) {
      if end == nil { end = try start() }
      guard let end else { return }
      // There is room for hundreds; without room, the caller gets an error rather than a wait.
      try Self.send(job, to: end.descriptor, waiting: false)
      waiting.append { outcome in
        if let result = outcome as? Result<Value, any Error> { done(result) }
      }
    } catch {
      loop.execute { done(.failure(error)) }
    }
  }

  private func start() throws(EventLoopError) -> (descriptor: Int32, watch: Watch) {
    var ends: [Int32] = [-1, -1]
    guard socketpair(AF_UNIX, Int32(SOCK_SEQPACKET.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
      throw EventLoopError(call: "socketpair", code: errno)
    }
    do throws(EventLoopError) {
      let watch = try Watch(ends[0], on: loop) { [weak self] _ in self?.receive() }
      try Self.startThread(with: ends[1])
      return (ends[0], watch)
    } catch {
      for descriptor in ends { close(descriptor) }
      throw error
    }
  }

  private func receive() {
    guard let end, let finished = Self.receive(Finished.self, from: end.descriptor, waiting: false), !waiting.isEmpty
    else { return }
    waiting.removeFirst()(finished.outcome)
  }

  // MARK: The thread

  private final class Descriptor: Sendable {
    let number: Int32
    init(_ number: Int32) { self.number = number }
  }

  private static func startThread(with descriptor: Int32) throws(EventLoopError) {
    let context = Unmanaged.passRetained(Descriptor(descriptor))
    var thread = pthread_t()
    let code = pthread_create(
      &thread, nil,
      { context in
        if let context { Worker.serve(Unmanaged<Descriptor>.fromOpaque(context).takeRetainedValue().number) }
        return nil
      }, context.toOpaque())
    guard code == 0 else {
      context.release()
      throw EventLoopError(call: "pthread_create", code: code)
    }
    pthread_detach(thread)
  }

  private static func serve(_ descriptor: Int32) {
    while let job = receive(Job.self, from: descriptor, waiting: true) {
      // Fails when results have no receiver; the work was executed all the same.
      try? send(Finished(job.work()), to: descriptor, waiting: true)
    }
    close(descriptor)
  }

  // MARK: Objects as packets

  /// Sends an object to the other end, which owns it from then on.
  private static func send(_ object: AnyObject, to descriptor: Int32, waiting: Bool) throws(EventLoopError) {
    let reference = Unmanaged.passRetained(object)
    var pointer = reference.toOpaque()
    let flags = Int32(MSG_NOSIGNAL) | (waiting ? 0 : Int32(MSG_DONTWAIT))
    while Glibc.send(descriptor, &pointer, MemoryLayout.size(ofValue: pointer), flags) < 0 {
      let code = errno
      if code == EINTR { continue }
      reference.release()
      throw EventLoopError(call: "send", code: code)
    }
  }

  /// The next object; nil if there is none, or at the end.
  private static func receive<Object: AnyObject>(
    _ type: Object.Type, from descriptor: Int32, waiting: Bool
  ) -> Object? {
    var pointer: UnsafeMutableRawPointer?
    let size = MemoryLayout.size(ofValue: pointer)
    while true {
      let count = recv(descriptor, &pointer, size, waiting ? 0 : Int32(MSG_DONTWAIT))
      if count < 0, errno == EINTR { continue }
      guard count == size, let pointer else { return nil }
      return Unmanaged<Object>.fromOpaque(pointer).takeRetainedValue()
    }
  }
}
