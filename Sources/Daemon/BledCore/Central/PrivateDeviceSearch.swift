import Bluetooth

/// Scans for devices that must be discovered before a connection: they use private addresses resolved by a bond.
final class PrivateDeviceSearch {
  private unowned let directory: PeripheralDirectory
  private unowned let scans: ScanBroker
  /// The scanning adapters.
  private var searching: Set<AdapterSlot> = []

  init(_ directory: PeripheralDirectory, _ scans: ScanBroker) {
    self.directory = directory
    self.scans = scans
  }

  /// Updates the search after changes to pending connections, or to the knowledge about their devices.
  func update(_ connections: some Sequence<PeripheralConnection>) {
    // Most machines have no such device, and this runs with every change of a connection.
    guard directory.resolvesAny || !searching.isEmpty else { return }
    let waiting = connections.filter { $0.machine.state == .connecting && directory.mustBeHeard($0.peripheral) }
    let slots = Set(waiting.map(\.slot))
    guard slots != searching else { return }
    searching = slots
    scans.setSearchScan(on: slots)
  }
}
