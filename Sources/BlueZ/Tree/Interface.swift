/// The interfaces that are served (BlueZ, doc/org.bluez.*.rst), by their names.
package enum Interface: String, Hashable, Sendable, CaseIterable {
  case adapter = "org.bluez.Adapter1"
  case device = "org.bluez.Device1"
  case battery = "org.bluez.Battery1"
  case service = "org.bluez.GattService1"
  case characteristic = "org.bluez.GattCharacteristic1"
  case descriptor = "org.bluez.GattDescriptor1"
  case gattManager = "org.bluez.GattManager1"
  case advertisingManager = "org.bluez.LEAdvertisingManager1"
  case monitorManager = "org.bluez.AdvertisementMonitorManager1"
  case agentManager = "org.bluez.AgentManager1"
  case profileManager = "org.bluez.ProfileManager1"
  case objectManager = "org.freedesktop.DBus.ObjectManager"
  case properties = "org.freedesktop.DBus.Properties"
  case introspectable = "org.freedesktop.DBus.Introspectable"
  case peer = "org.freedesktop.DBus.Peer"
}

/// The members of an interface.
struct InterfaceDescription: Sendable {
  struct Member: Sendable {
    let name: String
    /// The types of the arguments, in order: of a method what goes in, of a signal what it carries.
    let types: String
    /// The types of a method's results.
    let results: String

    init(_ name: String, _ types: String = "", returns results: String = "") {
      (self.name, self.types, self.results) = (name, types, results)
    }
  }

  struct Property: Sendable {
    let name: String
    let type: String
    let isWritable: Bool

    init(_ name: String, _ type: String, isWritable: Bool = false) {
      (self.name, self.type, self.isWritable) = (name, type, isWritable)
    }
  }

  var methods: [Member] = []
  var signals: [Member] = []
  var properties: [Property] = []

  func property(_ name: String) -> Property? { properties.first { $0.name == name } }

  func method(_ name: String) -> Member? { methods.first { $0.name == name } }
}

extension Interface {
  var description: InterfaceDescription {
    switch self {
    case .adapter: .adapter
    case .device: .device
    case .battery: .battery
    case .service: .service
    case .characteristic: .characteristic
    case .descriptor: .descriptor
    case .gattManager: .gattManager
    case .advertisingManager: .advertisingManager
    case .monitorManager: .monitorManager
    case .agentManager: .agentManager
    case .profileManager: .profileManager
    case .objectManager: .objectManager
    case .properties: .properties
    case .introspectable: .introspectable
    case .peer: .peer
    }
  }
}
