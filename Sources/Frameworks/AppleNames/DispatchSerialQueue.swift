/// A queue that runs its blocks in sequence, and the executor for actors with it as `unownedExecutor`: here each
/// Dispatch queue, made serial by `init(label:)`.
public typealias DispatchSerialQueue = DispatchQueue

extension DispatchQueue: @retroactive Executor, @retroactive SerialExecutor {
  /// Runs an actor's job behind the queued blocks.
  public func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
  }

  /// Ends the program unless it is called on the queue: behind `assumeIsolated` and `assertIsolated` of actors.
  public func checkIsolated() { dispatchPrecondition(condition: .onQueue(self)) }
}
