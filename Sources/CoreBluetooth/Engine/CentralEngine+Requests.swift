import BledRPC
import Bluetooth

extension CentralEngine {
  /// Queues a call on a peripheral: one after the other, in the order in which they were asked for. `then` comes on the
  /// program's queue; it does not come if the connection ends before. Any thread.
  func request<Method: RPCMethod>(
    _ peripheral: CBPeripheral, _ method: Method.Type, _ params: Method.Params,
    then: @escaping (CBPeripheral, Result<Method.Result, BluetoothError>) -> Void
  ) {
    run { [self] in
      let record = record(of: peripheral)
      guard record.phase == .connected else { return }
      let generation = record.generation
      record.waiting.append { [weak self, weak record] in
        self?.call(method, params) { [weak self, weak record] result in
          guard let self, let record, record.generation == generation else { return }
          record.isBusy = false
          if method == GATTDiscoverServices.self, record.watchesServices == .unwanted {
            record.watchesServices = .wanted
          }
          // If the connection is gone, the end of it is on its way, and no request is answered any more.
          if result.failure?.isEndOfConnection != true { deliver { _ in then(peripheral, result) } }
          next(record)
        }
      }
      next(record)
    }
  }

  /// Begins with what waits next.
  func next(_ record: LinkRecord) {
    guard !record.isBusy else { return }
    guard !record.waiting.isEmpty else { return watchServices(record) }
    record.isBusy = true
    record.waiting.removeFirst()()
  }
}
