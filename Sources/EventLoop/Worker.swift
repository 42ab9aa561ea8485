import Glibc

/// A thread for calls that block, as those on files do. It starts with the first of them, and does one after the other.
///
/// Work and results pass through two pipes, so nothing is locked and the loop sees a result as it sees anything else.
public final class Worker {
  private typealias Outcome = any Sendable

  /// What crosses over to the thread.
  private final class Job: Sendable {
    let work: @Sendable () -> Outcome
    init(_ work: @escaping @Sendable () -> Outcome) { self.work = work }
  }

  /// What comes back.
  private final class Finished: Sendable {
    let outcome: Outcome
    init(_ outcome: Outcome) { self.outcome = outcome }
  }

  private struct Pipes {
    let jobs: Int32
    let watch: Watch
    let results: Int32
  }

  private let loop: EventLoop
  private var pipes: Pipes?
  private var waiting: [(Outcome) -> Void] = []

  /// Makes a worker whose results arrive on `loop`.
  public init(loop: EventLoop) { self.loop = loop }

  deinit {
    guard let pipes else { return }
    pipes.watch.cancel()
    close(pipes.results)
    // The thread ends when it has read this end.
    close(pipes.jobs)
  }

  /// Has `work` done on the thread, after what was submitted before.
  /// - Parameter done: called on the loop, never from inside this call.
  public func submit<Value: Sendable>(
    _ work: @escaping @Sendable () throws -> Value, _ done: @escaping (Result<Value, any Error>) -> Void
  ) {
    do {
      let pipes = try self.pipes ?? start()
      self.pipes = pipes
      var job = Unmanaged.passRetained(Job { Result<Value, any Error>(catching: work) }).toOpaque()
      guard write(pipes.jobs, &job, MemoryLayout.size(ofValue: job)) == MemoryLayout.size(ofValue: job) else {
        let code = errno
        Unmanaged<Job>.fromOpaque(job).release()
        throw EventLoopError(call: "write", code: code)
      }
      waiting.append { outcome in
        if let result = outcome as? Result<Value, any Error> { done(result) }
      }
    } catch {
      loop.execute { done(.failure(error)) }
    }
  }

  private func start() throws(EventLoopError) -> Pipes {
    let jobs = try Self.pipe()
    let results: (read: Int32, write: Int32)
    do { results = try Self.pipe() } catch {
      for descriptor in [jobs.read, jobs.write] { close(descriptor) }
      throw error
    }
    do throws(EventLoopError) {
      // A pipe has room for thousands; should it be full nevertheless, the caller is told rather than made to wait.
      for descriptor in [jobs.write, results.read] { _ = fcntl(descriptor, F_SETFL, O_NONBLOCK) }
      let watch = try Watch(results.read, on: loop) { [weak self] _ in self?.receive() }
      try Self.startThread(reading: jobs.read, writing: results.write)
      return Pipes(jobs: jobs.write, watch: watch, results: results.read)
    } catch {
      for descriptor in [jobs.read, jobs.write, results.read, results.write] { close(descriptor) }
      throw error
    }
  }

  private func receive() {
    guard let pipes else { return }
    var result: UnsafeMutableRawPointer?
    guard read(pipes.results, &result, MemoryLayout.size(ofValue: result)) == MemoryLayout.size(ofValue: result),
      let result, !waiting.isEmpty
    else { return }
    let finished = Unmanaged<Finished>.fromOpaque(result).takeRetainedValue()
    waiting.removeFirst()(finished.outcome)
  }

  // MARK: The thread

  private final class Ends: Sendable {
    let jobs: Int32
    let results: Int32
    init(jobs: Int32, results: Int32) {
      self.jobs = jobs
      self.results = results
    }
  }

  private static func startThread(reading jobs: Int32, writing results: Int32) throws(EventLoopError) {
    let ends = Unmanaged.passRetained(Ends(jobs: jobs, results: results))
    var thread = pthread_t()
    let code = pthread_create(
      &thread, nil,
      { context in
        if let context { Worker.serve(Unmanaged<Ends>.fromOpaque(context).takeRetainedValue()) }
        return nil
      }, ends.toOpaque())
    guard code == 0 else {
      ends.release()
      throw EventLoopError(call: "pthread_create", code: code)
    }
    pthread_detach(thread)
  }

  private static func serve(_ ends: Ends) {
    let length = MemoryLayout<UnsafeMutableRawPointer>.size
    while true {
      var job: UnsafeMutableRawPointer?
      let count = read(ends.jobs, &job, length)
      if count < 0, errno == EINTR { continue }
      guard count == length, let job else { break }
      let outcome = Unmanaged<Job>.fromOpaque(job).takeRetainedValue().work()
      var result = Unmanaged.passRetained(Finished(outcome)).toOpaque()
      if write(ends.results, &result, length) != length { Unmanaged<Finished>.fromOpaque(result).release() }
    }
    close(ends.jobs)
    close(ends.results)
  }

  private static func pipe() throws(EventLoopError) -> (read: Int32, write: Int32) {
    var ends: [Int32] = [-1, -1]
    guard Glibc.pipe(&ends) == 0 else { throw EventLoopError(call: "pipe", code: errno) }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    return (ends[0], ends[1])
  }
}
