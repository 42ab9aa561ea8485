import BledRPC
import Bluetooth

/// What one session wants to hear.
struct ScanFilter {
  var services: Set<BluetoothUUID>
  var namePrefix: String?
  var address: String?
  var minimumRSSI: Int?

  init(_ params: ScanStart.Params) throws {
    services = Set(params.services ?? [])
    namePrefix = params.name
    address = params.address?.uppercased()
    minimumRSSI = params.rssi
    if let address, DeviceAddress(address, kind: .public) == nil {
      throw BledError.invalidParameter.error("\"address\" must be six pairs of hex digits with colons between them")
    }
  }

  /// Whether it lets this device through as it was last heard.
  func admits(_ peripheral: Peripheral) -> Bool {
    if let minimumRSSI {
      guard let rssi = peripheral.rssi, rssi >= minimumRSSI else { return false }
    }
    if let address, "\(peripheral.address)" != address { return false }
    if let namePrefix {
      guard let name = peripheral.name, name.hasPrefix(namePrefix) else { return false }
    }
    return services.isEmpty || peripheral.services.contains(where: services.contains)
  }
}
