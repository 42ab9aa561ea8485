/// The members of the objects of adapters, devices and their attributes. Optional properties exist while their value is
/// known.
extension InterfaceDescription {
  static let adapter = InterfaceDescription(
    methods: [
      Method("StartDiscovery") { $0.discovery.start($1, $2) },
      Method("StopDiscovery") { $0.discovery.stop($1, $2) },
      Method("SetDiscoveryFilter", "a{sv}") { $0.discovery.setFilter($1, $2) },
      Method("GetDiscoveryFilters", returns: "as") { facade, call, _ in facade.discovery.listFilters(call) },
      Method("RemoveDevice", "o") { $0.removal.remove($1, $2) },
      Method("ConnectDevice", "a{sv}", returns: "o") { $0.connectDevice($1, $2) },
    ],
    properties: [
      Property("Address", "s"), Property("AddressType", "s"), Property("Name", "s"),
      Property("Alias", "s") { $0.adapters.rename($1) },
      Property("Class", "u"),
      Property("Connectable", "b") { $0.adapters.keep($1) },
      Property("Powered", "b") { $0.adapters.switchPower($1) },
      Property("PowerState", "s"),
      Property("Discoverable", "b") { $0.adapters.keep($1) },
      Property("DiscoverableTimeout", "u") { $0.adapters.keep($1) },
      Property("Pairable", "b") { $0.adapters.keep($1) },
      Property("PairableTimeout", "u") { $0.adapters.keep($1) },
      Property("Discovering", "b"), Property("UUIDs", "as"), Property("Modalias", "s"), Property("Roles", "as"),
      Property("Manufacturer", "q"), Property("Version", "y"),
    ])

  static let device = InterfaceDescription(
    methods: [
      Method("Connect") { $0.links.connect($1, $2) },
      Method("Disconnect") { $0.links.disconnect($1, $2) },
      Method("ConnectProfile", "s", notAvailable), Method("DisconnectProfile", "s", notAvailable),
      Method("Pair") { $0.pairing.pair($1, $2) },
      Method("CancelPairing") { $0.pairing.cancel($1, $2) },
      Method("GetServiceRecords", returns: "aay", notSupported),
    ],
    signals: [Signal("Disconnected", "ss")],
    properties: [
      Property("Address", "s"), Property("AddressType", "s"), Property("Name", "s"),
      Property("Alias", "s") { $0.devices.rename($1) },
      Property("Class", "u"), Property("Appearance", "q"), Property("Icon", "s"), Property("Paired", "b"),
      Property("Bonded", "b"),
      Property("Trusted", "b") { $0.devices.trust($1) },
      Property("Blocked", "b") { $0.devices.block($1) },
      Property("LegacyPairing", "b"), Property("CablePairing", "b"), Property("RSSI", "n"), Property("Connected", "b"),
      Property("UUIDs", "as"), Property("Modalias", "s"), Property("Adapter", "o"),
      Property("ManufacturerData", "a{qv}"), Property("ServiceData", "a{sv}"), Property("TxPower", "n"),
      Property("ServicesResolved", "b"), Property("AdvertisingFlags", "ay"), Property("AdvertisingData", "a{yv}"),
      Property("WakeAllowed", "b") { $0.context.fail($1.call, .notSupported) },
      Property("PreferredBearer", "s") { $0.context.fail($1.call, .notSupported) },
    ])

  static let battery = InterfaceDescription(properties: [Property("Percentage", "y"), Property("Source", "s")])

  static let service = InterfaceDescription(
    properties: [
      Property("Handle", "q"), Property("UUID", "s"), Property("Device", "o"), Property("Primary", "b"),
      Property("Includes", "ao"),
    ])

  static let characteristic = InterfaceDescription(
    methods: [
      Method("ReadValue", "a{sv}", returns: "ay") { $0.values.read($1, $2) },
      Method("WriteValue", "aya{sv}") { $0.values.write($1, $2) },
      Method("AcquireWrite", "a{sv}", returns: "hq") { $0.acquisitions.acquire(.writes, $1, $2) },
      Method("AcquireNotify", "a{sv}", returns: "hq") { $0.acquisitions.acquire(.values, $1, $2) },
      Method("StartNotify") { $0.notifications.start($1, $2) },
      Method("StopNotify") { $0.notifications.stop($1, $2) },
    ],
    properties: [
      Property("Handle", "q"), Property("UUID", "s"), Property("Service", "o"), Property("Value", "ay"),
      Property("Notifying", "b"), Property("Flags", "as"), Property("WriteAcquired", "b"),
      Property("NotifyAcquired", "b"), Property("MTU", "q"),
    ])

  static let descriptor = InterfaceDescription(
    methods: [
      Method("ReadValue", "a{sv}", returns: "ay") { $0.values.read($1, $2) },
      Method("WriteValue", "aya{sv}") { $0.values.write($1, $2) },
    ],
    properties: [
      Property("Handle", "q"), Property("UUID", "s"), Property("Characteristic", "o"), Property("Value", "ay"),
    ])

  private static let notAvailable: Method.Handler = { facade, call, _ in facade.context.fail(call, .notAvailable) }
  static let notSupported: Method.Handler = { facade, call, _ in facade.context.fail(call, .notSupported) }
}
