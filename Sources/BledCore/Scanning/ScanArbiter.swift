import Adapter
import BledRPC
import Bluetooth

/// Makes the wishes of all sessions on one adapter into the one scan that it runs.
///
/// | State   | Input                              | Action                          |
/// |---------|------------------------------------|---------------------------------|
/// | no scan | a wish                             | scan as wished                  |
/// | scan    | a wish changes what all together need | scan with the union          |
/// | scan    | a wish that changes nothing        | none                            |
/// | scan    | the last wish is taken back        | stop                            |
///
/// The union is active if anyone wants it active. An adapter that was away gets its scan back by itself.
struct ScanArbiter<Who: Hashable> {
  /// What the adapter is to do now.
  enum Action: Hashable {
    case none
    case set(ScanParameters?)
  }

  private var wishes: [Who: ScanParameters] = [:]
  private var wanted: ScanParameters?

  /// Whether scan responses are asked for.
  var isActive: Bool { wanted?.isActive ?? false }

  /// Sets or takes back (nil) the wish of one.
  mutating func wish(_ parameters: ScanParameters?, of who: Who) -> Action {
    wishes[who] = parameters
    let union = wishes.values.reduce(nil as ScanParameters?) { union, wish in
      guard var union else { return wish }
      union.isActive = union.isActive || wish.isActive
      // The wider window in proportion to its interval hears more.
      if wish.window.inSeconds * union.interval.inSeconds > union.window.inSeconds * wish.interval.inSeconds {
        union.window = wish.window
        union.interval = wish.interval
      }
      return union
    }
    guard union != wanted else { return .none }
    wanted = union
    return .set(union)
  }
}

/// What one session wants to hear.
struct ScanFilter {
  /// How many services may be asked for, and how long a name's beginning may be, in octets, as the Local Name itself
  /// (Core Specification, Vol 3, Part C, 12.1). `session.list` tells both to others.
  private static let maximumServices = 64
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
