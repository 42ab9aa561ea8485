import NIOCore

/// Runs tasks on the daemon's event loop.
///
/// Swift's own executor is a thread pool of Dispatch, and its first thread starts a timer that wakes the process once a
/// second for good.
final class EventLoopTaskExecutor: TaskExecutor {
  private let eventLoop: any EventLoop

  init(_ eventLoop: any EventLoop) { self.eventLoop = eventLoop }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    eventLoop.execute { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}
