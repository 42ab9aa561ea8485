/// Learns of devices from scans.
protocol ScanObserver: AnyObject {
  /// A device is reached under another address than before.
  func moved(_ peripheral: Peripheral)
  /// A device was discovered during a search for devices.
  func discovered(_ peripheral: Peripheral, on slot: AdapterSlot)
}
