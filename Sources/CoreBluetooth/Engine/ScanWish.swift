import BledRPC
import Bluetooth

/// A scan that the program wants.
struct ScanWish: Sendable {
  /// Which of the manager's scans it is.
  var number: Int
  /// Only devices that advertise one of these; all if empty.
  var services: [BluetoothUUID]
  /// Also those that solicit one of these.
  var solicited: [BluetoothUUID]
  var duplicates: Bool

  /// The wish as the daemon takes it. It knows no solicited services: with them it is asked for everything, and `wants`
  /// chooses.
  var params: ScanStart.Params {
    .init(services: services.isEmpty || !solicited.isEmpty ? nil : services, duplicates: duplicates)
  }

  func wants(_ report: ScanReport.Params) -> Bool {
    guard !solicited.isEmpty else { return true }
    return !services.isEmpty && !(report.services ?? []).allSatisfy { !services.contains($0) }
      || !(report.solicitedServices ?? []).allSatisfy { !solicited.contains($0) }
  }
}
