import BledRPC
import Bluetooth

extension CentralEngine {
  /// Looks for the device's Service Changed characteristic when nothing else is to be done: with its configuration the
  /// daemon knows enough to subscribe to it. Programs that discover nothing need it not.
  func watchServices(_ record: LinkRecord) {
    guard record.watchesServices == .wanted, record.phase == .connected, let id = record.peripheral?.id else { return }
    record.watchesServices = .begun
    ask(record, GATTDiscoverServices.self, .init(peripheral: id, services: [0x1801])) { [weak self] found in
      guard let service = found.services.first else { return }
      let scope = GATTScope(peripheral: id, handle: service.handle, uuids: [0x2A05])
      self?.ask(record, GATTDiscoverCharacteristics.self, scope) { found in
        guard let characteristic = found.characteristics.first else { return }
        self?.ask(record, GATTDiscoverDescriptors.self, .init(peripheral: id, handle: characteristic.handle)) { _ in }
      }
    }
  }

  /// A call in between: what the program wants goes first.
  private func ask<Method: RPCMethod>(
    _ record: LinkRecord, _ method: Method.Type, _ params: Method.Params, then: @escaping (Method.Result) -> Void
  ) {
    let generation = record.generation
    record.waiting.append { [weak self, weak record] in
      self?.call(method, params) { [weak self, weak record] result in
        guard let self, let record, record.generation == generation else { return }
        record.isBusy = false
        if case .success(let found) = result { then(found) }
        next(record)
      }
    }
    next(record)
  }
}
