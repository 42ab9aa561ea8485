import BledRPC
import Bluetooth

/// What one session wants to hear.
struct ScanFilter {
  /// How many services may be asked for, and how long a name's beginning may be, in octets, as the Local Name itself
  /// (Core Specification, Vol 3, Part C, 12.1). `session.list` tells both to others.
  static let maximumServices = 64
  static let longestName = 248

  var services: Set<BluetoothUUID>
  var solicitedServices: Set<BluetoothUUID>
  var namePrefix: String?
  var address: String?
  var minimumRSSI: Int?

  init(_ params: ScanStart.Params) throws {
    for (name, list) in [("services", params.services), ("solicitedServices", params.solicitedServices)] {
      guard list?.count ?? 0 <= Self.maximumServices else {
        throw BledError.invalidParameter.error("\"\(name)\" may list \(Self.maximumServices) at the most")
      }
    }
    guard params.name?.utf8.count ?? 0 <= Self.longestName else {
      throw BledError.invalidParameter.error("\"name\" may have \(Self.longestName) octets at the most")
    }
    services = Set(params.services ?? [])
    solicitedServices = Set(params.solicitedServices ?? [])
    namePrefix = params.name
    address = params.address?.uppercased()
    minimumRSSI = params.rssi
    if let address, DeviceAddress(address, kind: .public) == nil {
      throw BledError.invalidParameter.error("\"address\" must be six pairs of hex digits with colons between them")
    }
  }

  /// Whether it asks for services: a scan in the background must.
  var namesServices: Bool { !services.isEmpty || !solicitedServices.isEmpty }

  /// Whether it lets this device through as it was last heard.
  func admits(_ peripheral: Peripheral) -> Bool {
    if let minimumRSSI {
      guard let rssi = peripheral.rssi, rssi >= minimumRSSI else { return false }
    }
    if let address, "\(peripheral.address)" != address { return false }
    if let namePrefix {
      guard let name = peripheral.name, name.hasPrefix(namePrefix) else { return false }
    }
    guard namesServices else { return true }
    if peripheral.services.contains(where: services.contains) { return true }
    return !solicitedServices.isEmpty
      && peripheral.advertised.solicitedServiceUUIDs.contains(where: solicitedServices.contains)
  }
}
