import Bluetooth

/// Has adapters listen for the devices that must be heard before they can be connected: they use private addresses that
/// a bond resolves.
final class PrivateDeviceSearch {
  private unowned let directory: PeripheralDirectory
  private unowned let scans: ScanBroker
  /// The adapters that listen.
  private var searching: Set<AdapterSlot> = []

  init(_ directory: PeripheralDirectory, _ scans: ScanBroker) {
    self.directory = directory
    self.scans = scans
  }

  /// Updates the search after a change of the connections waited for, or of the knowledge about their devices.
  func update(_ connections: some Sequence<PeripheralConnection>) {
    // Most machines have no such device, and this is asked with every change of a connection.
    guard directory.resolvesAny || !searching.isEmpty else { return }
    let waiting = connections.filter { $0.machine.state == .connecting && directory.mustBeHeard($0.peripheral) }
    let slots = Set(waiting.map(\.slot))
    guard slots != searching else { return }
    searching = slots
    scans.search(on: slots)
  }
}
