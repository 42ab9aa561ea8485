/// A queue that calls one block after the other, and the executor of an actor that has it as
/// `unownedExecutor`: here each queue of Dispatch, of which `init(label:)` makes a serial one.
public typealias DispatchSerialQueue = DispatchQueue

extension DispatchQueue: @retroactive Executor, @retroactive SerialExecutor {
  /// Runs a job of an actor behind the blocks that are queued.
  public func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
  }

  /// Ends the program unless it is called on the queue: behind `assumeIsolated` and `assertIsolated` of actors.
  public func checkIsolated() { dispatchPrecondition(condition: .onQueue(self)) }
}
