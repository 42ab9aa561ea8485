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

  /// The wish as the daemon takes it.
  var params: ScanStart.Params {
    .init(
      services: services.isEmpty ? nil : services, solicitedServices: solicited.isEmpty ? nil : solicited,
      duplicates: duplicates)
  }

  /// The options with which the program asked for it.
  var options: [String: Any] {
    var options: [String: Any] = [CBCentralManagerScanOptionAllowDuplicatesKey: NSNumber(value: duplicates)]
    if !solicited.isEmpty {
      options[CBCentralManagerScanOptionSolicitedServiceUUIDsKey] = solicited.map { CBUUID($0) }
    }
    return options
  }
}
