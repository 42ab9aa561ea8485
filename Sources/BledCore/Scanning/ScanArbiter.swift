import Adapter
import BledRPC
import Bluetooth

/// Combines the scan requests of all sessions on one adapter into the one scan that it runs.
///
/// | State   | Input                              | Action                          |
/// |---------|------------------------------------|---------------------------------|
/// | no scan | a request                          | scan as requested               |
/// | scan    | a request changes the union        | scan with the union             |
/// | scan    | a request that changes nothing     | none                            |
/// | scan    | the last request is cancelled      | stop                            |
///
/// The union is active if any request is. An adapter that was away resumes its scan.
struct ScanArbiter<Who: Hashable> {
  /// What the adapter is to do now.
  enum Action: Hashable {
    case none
    case set(ScanParameters?)
  }

  private var requests: [Who: ScanParameters] = [:]
  private var wanted: ScanParameters?

  /// Whether scan responses are asked for.
  var isActive: Bool { wanted?.isActive ?? false }

  /// Sets or cancels (nil) the request of one party.
  mutating func request(_ parameters: ScanParameters?, of who: Who) -> Action {
    requests[who] = parameters
    let union = requests.values.reduce(nil as ScanParameters?) { union, request in
      guard var union else { return request }
      union.isActive = union.isActive || request.isActive
      // The wider window in proportion to its interval hears more.
      if request.window.inSeconds * union.interval.inSeconds > union.window.inSeconds * request.interval.inSeconds {
        union.window = request.window
        union.interval = request.interval
      }
      return union
    }
    guard union != wanted else { return .none }
    wanted = union
    return .set(union)
  }
}

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

  init(_ params: ScanStart.Params) throws {
    for (name, list) in [("services", params.services), ("solicitedServices", params.solicitedServices)] {
      guard list?.count ?? 0 <= Self.maximumServices else {
        throw BledError.invalidParameter.error("\"\(name)\" may list at most \(Self.maximumServices)")
      }
    }
    guard params.name?.utf8.count ?? 0 <= Self.longestName else {
      throw BledError.invalidParameter.error("\"name\" may have at most \(Self.longestName) octets")
    }
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
    if let minimumRSSI {
      guard let rssi = peripheral.rssi, rssi >= minimumRSSI else { return false }
    }
    if let address, peripheral.address.value != address { return false }
    if let namePrefix {
      guard let name = peripheral.name, name.utf8.starts(with: namePrefix.utf8) else { return false }
    }
    guard namesServices else { return true }
    if peripheral.services.contains(where: services.contains) { return true }
    return !solicitedServices.isEmpty
      && peripheral.advertised.solicitedServiceUUIDs.contains(where: solicitedServices.contains)
  }
}
