import Adapter
import BledRPC
import Bluetooth

/// What one session scans for.
struct ScanFilter {
  /// How many services may be listed, and how long a name's prefix may be, in octets, as the Local Name itself
  /// (Core Specification, Vol 3, Part C, 12.1). `session.list` tells both to others.
  private static let maximumServices = 64
  static let longestName = 248

  var services: Set<BluetoothUUID>
  var solicitedServices: Set<BluetoothUUID>
  var namePrefix: String?
  /// The number of an address of whatever type.
  var address: UInt64?
  var minimumRSSI: Int?
  let phys: Set<PHY>

  init(_ params: ScanStart.Params) throws {
    for (name, list) in [("services", params.services), ("solicitedServices", params.solicitedServices)] {
      guard list?.count ?? 0 <= Self.maximumServices else {
        throw BledError.invalidParameter.error("\"\(name)\" may list at most \(Self.maximumServices)")
      }
    }
    guard params.name?.utf8.count ?? 0 <= Self.longestName else {
      throw BledError.invalidParameter.error("\"name\" may have at most \(Self.longestName) octets")
    }
    phys = try Set(listeningOn: params.phys)
    services = Set(params.services ?? [])
    solicitedServices = Set(params.solicitedServices ?? [])
    namePrefix = params.name
    minimumRSSI = params.rssi
    guard let text = params.address else { return }
    address = DeviceAddress(text, kind: .public)?.value
    if address == nil {
      throw BledError.invalidParameter.error("\"address\" must be six pairs of hex digits with colons between them")
    }
  }

  /// Whether it lists services: a scan in the background must.
  var namesServices: Bool { !services.isEmpty || !solicitedServices.isEmpty }

  /// Whether it lets this device through as it was last heard.
  func admits(_ peripheral: Peripheral) -> Bool {
    if let address, peripheral.address.value != address, peripheral.current.value != address { return false }
    return admits(peripheral.rssi) && admits(name: peripheral.name)
      && admits(peripheral.services, of: peripheral.advertised)
  }

  /// Whether it lets an anonymous advertisement through.
  func admits(_ report: AdvertisingReport, _ advertised: AdvertisingData) -> Bool {
    address == nil && admits(report.rssi) && admits(name: advertised.localName)
      && admits(advertised.serviceUUIDs, of: advertised)
  }

  private func admits(_ rssi: Int?) -> Bool {
    guard let minimumRSSI else { return true }
    return rssi.map { $0 >= minimumRSSI } ?? false
  }

  private func admits(name: @autoclosure () -> String?) -> Bool {
    guard let namePrefix else { return true }
    return name()?.utf8.starts(with: namePrefix.utf8) ?? false
  }

  private func admits(_ listed: @autoclosure () -> [BluetoothUUID], of advertised: AdvertisingData) -> Bool {
    guard namesServices else { return true }
    if !services.isEmpty, listed().contains(where: services.contains) { return true }
    return !solicitedServices.isEmpty && advertised.solicitedServiceUUIDs.contains(where: solicitedServices.contains)
  }
}
