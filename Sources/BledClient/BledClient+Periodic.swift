import BledRPC
import Bluetooth

/// A train of periodic advertisements that this client follows.
public struct SynchronisedTrain: Sendable {
  /// Which one, and how often its packets come.
  public let train: PeriodicSync.Result
  /// The packets of the train. At most 1024 are buffered; the oldest are dropped. The train is no longer followed when
  /// the stream is released or the task that reads it is cancelled. The stream throws when the train cannot be followed
  /// any more.
  public let reports: AsyncThrowingStream<PeriodicReport.Params, any Error>
}

extension BledClient {
  /// Follows a train of periodic advertisements and waits until the adapter is synchronised with it. A train that is
  /// lost is looked for again; `notifications(PeriodicChanged.self)` has that.
  /// - Parameter params: Which train, and how long to wait.
  /// - Throws: The result of `periodic.sync`; `GAPError.timeout`, `.cancelled`, `.notSupported`.
  public func synchronise(_ params: PeriodicSync.Params) async throws(BluetoothError) -> SynchronisedTrain {
    let (stream, output) = AsyncThrowingStream.makeStream(of: PeriodicReport.Params.self, .newest(1024))
    // Which train it is, is known with the answer: earlier reports belong to another one.
    let train = try await core.call(PeriodicSync.self, params)
    let (peripheral, adapter, sid) = (train.peripheral, train.adapter, train.sid)
    let reports = core.observe(PeriodicReport.self) { report in
      if report.peripheral == peripheral, report.sid == sid, report.adapter == adapter { output.yield(report) }
    } end: { error in
      output.finish(throwing: error)
    }
    let changes = core.observe(PeriodicChanged.self) { change in
      guard change.peripheral == peripheral, change.sid == sid, let reason = change.reason else { return }
      output.finish(throwing: reason.bluetoothError)
    } end: { _ in
    }
    output.onTermination = { [core] _ in
      reports.cancel()
      changes.cancel()
      core.tell(PeriodicStop.self, .init(peripheral: peripheral, sid: sid))
    }
    return SynchronisedTrain(train: train, reports: stream)
  }
}
