import BledConnection
import BledRPC
import Bluetooth
import Synchronization

/// A train of periodic advertisements that this client follows.
public struct SynchronisedTrain: Sendable {
  /// The train, and the interval of its packets.
  public let train: PeriodicSync.Result
  /// The packets of the train. At most 1024 are buffered; the oldest are dropped. The train is no longer followed once
  /// the stream is released or the task that reads it is cancelled. The stream throws when the train can no longer be
  /// followed.
  public let reports: AsyncThrowingStream<PeriodicReport.Params, any Error>
}

extension SynchronisedTrain {
  /// The call's answer identifies the train: earlier reports belong to another one.
  fileprivate init(_ train: PeriodicSync.Result, from core: ClientCore) {
    let (stream, output) = AsyncThrowingStream.makeStream(of: PeriodicReport.Params.self, .newest(1024))
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
    output.onTermination = { _ in
      reports.cancel()
      changes.cancel()
      core.leave(UsedTrain(peripheral: peripheral, sid: sid), of: TrainRequest.self)
    }
    self.init(train: train, reports: stream)
  }
}

extension BledClient {
  /// Follows a train of periodic advertisements and waits until the adapter is synchronised with it. A lost train is
  /// searched for again; `notifications(PeriodicChanged.self)` reports that.
  /// - Parameter params: The train, and the timeout.
  /// - Throws: The result of `periodic.sync`; `GAPError.timeout`, `.cancelled`, `.notSupported`.
  public func synchronise(_ params: PeriodicSync.Params) async throws(BluetoothError) -> SynchronisedTrain {
    let request = TrainRequest(params)
    return try await follow(PeriodicSync.self, params, request, from: params.peripheral) { $0 }.train
  }

  /// Waits for a train of periodic advertisements that a device transfers over its link, and follows it like
  /// `synchronise`, without a scan.
  /// - Parameter params: The device, and the timeout.
  /// - Returns: The train, and the value that the device gave with it.
  /// - Throws: The result of `periodic.receive`; `GAPError.timeout`, `.cancelled`, `.notConnected`, `.notSupported`.
  public func receiveTrain(
    _ params: PeriodicReceive.Params
  ) async throws(BluetoothError) -> (train: SynchronisedTrain, serviceData: Int) {
    let (train, received) = try await follow(PeriodicReceive.self, params, TrainRequest(params)) {
      PeriodicSync.Result(
        peripheral: $0.peripheral, adapter: $0.adapter, sid: $0.sid, interval: $0.interval, phy: $0.phy,
        responses: $0.responses)
    }
    return (train, received.serviceData)
  }

  /// The train is observed before the message behind the answer is handled.
  /// - Parameter name: The device, as the call names it.
  private func follow<Method: RPCMethod>(
    _ method: Method.Type, _ params: Method.Params, _ request: TrainRequest, from name: String? = nil,
    _ train: @escaping @Sendable (Method.Result) -> PeriodicSync.Result
  ) async throws(BluetoothError) -> (train: SynchronisedTrain, result: Method.Result) {
    let followed = Mutex<SynchronisedTrain?>(nil)
    let result = try await core.call(
      method, params, for: request,
      using: { UsedTrain(peripheral: train($0).peripheral, sid: train($0).sid, name: name) },
      arrived: { [core] result in followed.withLock { $0 = SynchronisedTrain(train(result), from: core) } })
    guard let train = followed.withLock({ $0 }) else { throw GAPError.cancelled.error("\(Method.name) was cancelled") }
    return (train, result)
  }

  /// Sends a response to a packet of a train with subevents that this client follows, and waits until the controller
  /// has it.
  /// - Parameter params: The packet, the slot, and the data.
  /// - Throws: The result of `periodic.respond`: `GAPError.notSupported`, `BledError.unknownHandle`, or code 0x46 of
  ///   the domain `hci` if the slot has passed.
  public func respond(_ params: PeriodicRespond.Params) async throws(BluetoothError) {
    _ = try await call(PeriodicRespond.self, params)
  }

  /// Transfers a train that this client sends or follows to a device, which can follow it without a scan.
  /// - Parameter params: Which device, and which train.
  /// - Throws: The result of `periodic.transfer`; `GAPError.notSupported`, `.notConnected`, `BledError.unknownHandle`.
  public func transfer(_ params: PeriodicTransfer.Params) async throws(BluetoothError) {
    _ = try await call(PeriodicTransfer.self, params)
  }

  /// Sends data in a subevent of a train of this client, once, and waits until the controller has it.
  /// `notifications(AdvertisingResponses.self)` has the responses of devices.
  /// - Parameter params: The train, the subevent, and the data.
  /// - Throws: The result of `advertising.send`; `GAPError.cancelled` if newer data replaced it,
  ///   `BledError.unknownHandle`.
  public func send(_ params: AdvertisingSend.Params) async throws(BluetoothError) {
    _ = try await call(AdvertisingSend.self, params)
  }
}
