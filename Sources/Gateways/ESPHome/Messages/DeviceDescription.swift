import BledRPC

/// The proxy as its clients see it.
package struct DeviceDescription: Hashable {
  /// The version of ESPHome with this API; clients compare it with the newest one.
  package static let apiRelease = "2026.10.0"
  package static let manufacturer = "bled"
  package static let model = "Bluetooth proxy"
  package static let project = "bled.bluetooth-proxy"

  /// A label of a host name.
  package var name: String
  package var friendlyName: String
  /// The identity address of the adapter, six pairs of upper-case hex digits with colons.
  package var address: String
  package var version: String { Release.version }
  var features: ProxyFeatures
  /// True if the proxy connects to Home Assistant by itself.
  var connectsOut = false

  /// The address as 12 lower-case hex digits.
  package var compactAddress: String { address.lowercased().filter { $0 != ":" } }
}

/// The abilities that a proxy announces to its clients.
struct ProxyFeatures: OptionSet, Hashable {
  let rawValue: UInt32

  static let passiveScan = ProxyFeatures(rawValue: 1)
  static let connections = ProxyFeatures(rawValue: 2)
  static let remoteCaching = ProxyFeatures(rawValue: 4)
  static let pairing = ProxyFeatures(rawValue: 8)
  static let cacheClearing = ProxyFeatures(rawValue: 16)
  static let rawAdvertisements = ProxyFeatures(rawValue: 32)
  static let stateAndMode = ProxyFeatures(rawValue: 64)
  static let connectionParameters = ProxyFeatures(rawValue: 128)

  /// The abilities that the permissions of a session allow.
  init(_ session: SessionOpen.Result) {
    self = []
    if session.isPermitted(.scan) { formUnion([.passiveScan, .rawAdvertisements, .stateAndMode]) }
    if session.isPermitted(.connect) {
      formUnion([.connections, .remoteCaching, .cacheClearing, .connectionParameters])
      if session.isPermitted(.pair) { formUnion(.pairing) }
    }
  }

  init(rawValue: UInt32) { self.rawValue = rawValue }
}

/// The states of the scanner.
enum ScannerState: UInt32 {
  case idle = 0
  case starting = 1
  case running = 2
  case failed = 3
  case stopping = 4
  case stopped = 5
}
