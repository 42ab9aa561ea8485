import BledRPC
import Bluetooth
import GATT

/// Changes of the device's services.
extension CentralLink {
  func lookedUp() { watchServices() }

  /// A session relies on handles of the device from now on.
  func watchServices() {
    guard serviceWatch.begin() else { return }
    let completion = discovering(DiscoveryMachine(.serviceChanged)) { [unowned self] operation in
      features.servicesAreKnown()
      operation.completion = serviceSubscription
      return serviceWatch.subscribe(discovery.known)
    }
    enqueue(LinkOperation(nil, .other, completion))
  }

  private var serviceSubscription: LinkOperation.Completion {
    .init(next: { [unowned self] operation, outcome in
      // One that refuses the subscription changes nothing, or does not say so.
      if case .failure(.att)? = outcome {
        hub.bond.refusedToTellChanges()
        discovery.changesAreNotTold()
      }
      _ = try outcome?.orBluetoothError()
      hub.bond.subscribedToChanges()
      useCache()
      operation.completion = serviceCheck
      return discovery.check
    })
  }

  /// The services may have changed between the discovery and the subscription.
  private var serviceCheck: LinkOperation.Completion {
    .init(next: { [unowned self] operation, outcome in
      guard discovery.isOutdated(by: outcome) else { return nil }
      var comparison = ServiceComparison(with: discovery.known)
      operation.completion = .init(next: { [unowned self] _, outcome in
        compare(&comparison, outcome?.mapError(\.bluetoothError))
      })
      return compare(&comparison, nil)
    })
  }

  /// The device's services are not the known ones.
  /// - Returns: the next procedure; nil when the programs are notified.
  private func compare(
    _ comparison: inout ServiceComparison, _ result: Result<GATTResult, BluetoothError>?
  ) -> GATTProcedure? {
    // Meanwhile the device may have indicated the change itself.
    guard comparison.isCurrent(discovery.known) else { return nil }
    let next = Result { try comparison.next(result) }
    if case .success(let procedure?) = next {
      hub.pace.discovers(at: hub.scheduler.now)
      return procedure
    }
    discovery.databaseChanged()
    switch next {
    case .success: if let range = comparison.change { changed(range) }
    // A device that does not describe itself may have changed anything.
    case .failure: changed(1...0xFFFF)
    }
    return nil
  }

  /// The value of Service Changed was sent.
  func servicesChanged(_ value: [UInt8]) {
    guard let range = ServiceWatch.range(value), connection != nil else { return }
    discovery.databaseChanged()
    changed(range)
  }

  /// Requests by handles of this range would reach other attributes, or none (Core 5.4, Vol 3, Part G, 2.5.2).
  private func changed(_ range: ClosedRange<UInt16>) {
    operations.endHandles(in: range, of: users)
    forget(range)
    operations.goOn()
  }

  /// The device's services changed behind our back (Core 5.4, Vol 3, Part G, 2.5.2.1). It refused the request, and
  /// serves requests from now on: by handles that are discovered anew.
  func databaseIsOutOfSync() {
    discovery.databaseChanged()
    // The device would serve it, with the attributes that have these handles now.
    operations.endWaitingHandles(of: users)
    forget(1...0xFFFF)
    // The daemon's own subscription is asked for again with the next discovery.
    serviceWatch = ServiceWatch()
  }

  /// Handles of the device are no longer valid: its users are notified.
  func forget(_ range: ClosedRange<UInt16>) {
    let error = BledError.servicesChanged
    receivers.forget(range, error)
    discovery.forget(range)
    receivers.endAcquired(error) { range.contains($0.handle) }
    for session in users {
      session.send(
        GATTServicesChanged.self,
        .init(peripheral: hub.peripheral.id, start: range.lowerBound, end: range.upperBound))
    }
  }
}
