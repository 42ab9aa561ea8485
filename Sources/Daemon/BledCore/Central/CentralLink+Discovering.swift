import BledRPC
import Bluetooth
import GATT

/// Operations that discover attributes.
extension CentralLink {
  /// - Parameters:
  ///   - step: called after each step but the last.
  ///   - found: called when all attributes are known; it returns the operation's next procedure, if any.
  func discovering(
    _ machine: DiscoveryMachine, step: @escaping () -> Void = {},
    found: @escaping (inout LinkOperation) throws -> GATTProcedure?,
    fail: @escaping (BluetoothError) -> Void = { _ in }
  ) -> LinkOperation.Completion {
    var machine = machine
    return LinkOperation.Completion(
      next: { [unowned self] operation, outcome in
        guard let next = try discover(&machine, outcome) else { return try found(&operation) }
        step()
        return next
      }, fail: fail)
  }

  /// Adds a result to the known attributes, and returns the next procedure.
  private func discover(
    _ machine: inout DiscoveryMachine, _ result: LinkOperation.Outcome?
  ) throws -> GATTProcedure? {
    hub.pace.discovers(at: hub.scheduler.now)
    var result = result
    if case .failure(let error)? = result, !machine.isWide(discovery.known) {
      switch error {
      case .irregularHandles(let found, let opcode):
        warn("returned out-of-order handles (\(opcode)); ignoring the rest")
        result = .success(found)
      case .partlyRefused(let found, let code, let handle):
        warn("refused to tell more from handle \(handle.handleText) on (\(code.name)); ignoring the rest")
        discovery.isIncomplete()
        result = .success(found)
      default: break
      }
    }
    if let result, try discovery.add(result.mapError(\.bluetoothError), to: &machine) { forget(1...0xFFFF) }
    if discovery.takeRecall() { broker.annotations.add(attributeNotes) }
    let next = try discovery.next(&machine)
    if next == nil, !machine.refusals.isEmpty {
      let (listed, count) = (machine.refusals.prefix(8), machine.refusals.count)
      warn("refused to tell \(listed.joined(separator: ", "))\(count > 8 ? " and \(count - 8) more" : "")")
    }
    return next
  }

  private func warn(_ words: String) {
    broker.logger.warning(
      "\(hub.peripheral.address) \(words)", metadata: .about(hub.peripheral, adapter: hub.slot))
  }

  /// Reports the discovery's progress to the waiting session, now and then.
  func reportProgress(of request: DiscoveryRequest, to session: Session) {
    guard case .everything(_, let clock) = request, clock.isReportDue() else { return }
    let services = discovery.known.services
    session.send(
      GATTDiscoveryProgress.self,
      .init(
        peripheral: hub.peripheral.id, services: services.count,
        characteristics: services.reduce(0) { $0 + ($1.characteristics?.count ?? 0) }))
  }
}
