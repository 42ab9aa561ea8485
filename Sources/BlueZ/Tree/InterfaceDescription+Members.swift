/// The members of each interface. Optional properties are there while their value is known.
extension InterfaceDescription {
  static let adapter = InterfaceDescription(
    methods: [
      Member("StartDiscovery"), Member("StopDiscovery"), Member("SetDiscoveryFilter", "a{sv}"),
      Member("GetDiscoveryFilters", returns: "as"), Member("RemoveDevice", "o"),
      Member("ConnectDevice", "a{sv}", returns: "o"),
    ],
    properties: [
      Property("Address", "s"), Property("AddressType", "s"), Property("Name", "s"),
      Property("Alias", "s", isWritable: true), Property("Class", "u"), Property("Connectable", "b", isWritable: true),
      Property("Powered", "b", isWritable: true), Property("PowerState", "s"),
      Property("Discoverable", "b", isWritable: true), Property("DiscoverableTimeout", "u", isWritable: true),
      Property("Pairable", "b", isWritable: true), Property("PairableTimeout", "u", isWritable: true),
      Property("Discovering", "b"), Property("UUIDs", "as"), Property("Modalias", "s"), Property("Roles", "as"),
      Property("ExperimentalFeatures", "as"), Property("Manufacturer", "q"), Property("Version", "y"),
    ])

  static let device = InterfaceDescription(
    methods: [
      Member("Connect"), Member("Disconnect"), Member("ConnectProfile", "s"), Member("DisconnectProfile", "s"),
      Member("Pair"), Member("CancelPairing"), Member("GetServiceRecords", returns: "aay"),
    ],
    signals: [Member("Disconnected", "ss")],
    properties: [
      Property("Address", "s"), Property("AddressType", "s"), Property("Name", "s"),
      Property("Alias", "s", isWritable: true), Property("Class", "u"), Property("Appearance", "q"),
      Property("Icon", "s"), Property("Paired", "b"), Property("Bonded", "b"),
      Property("Trusted", "b", isWritable: true), Property("Blocked", "b", isWritable: true),
      Property("LegacyPairing", "b"), Property("CablePairing", "b"), Property("RSSI", "n"), Property("Connected", "b"),
      Property("UUIDs", "as"), Property("Modalias", "s"), Property("Adapter", "o"),
      Property("ManufacturerData", "a{qv}"), Property("ServiceData", "a{sv}"), Property("TxPower", "n"),
      Property("ServicesResolved", "b"), Property("AdvertisingFlags", "ay"), Property("AdvertisingData", "a{yv}"),
      Property("WakeAllowed", "b", isWritable: true), Property("PreferredBearer", "s", isWritable: true),
    ])

  static let battery = InterfaceDescription(properties: [Property("Percentage", "y"), Property("Source", "s")])

  static let service = InterfaceDescription(
    properties: [
      Property("Handle", "q"), Property("UUID", "s"), Property("Device", "o"), Property("Primary", "b"),
      Property("Includes", "ao"),
    ])

  static let characteristic = InterfaceDescription(
    methods: [
      Member("ReadValue", "a{sv}", returns: "ay"), Member("WriteValue", "aya{sv}"),
      Member("AcquireWrite", "a{sv}", returns: "hq"), Member("AcquireNotify", "a{sv}", returns: "hq"),
      Member("StartNotify"), Member("StopNotify"), Member("Confirm"),
    ],
    properties: [
      Property("Handle", "q"), Property("UUID", "s"), Property("Service", "o"), Property("Value", "ay"),
      Property("Notifying", "b"), Property("Flags", "as"), Property("WriteAcquired", "b"),
      Property("NotifyAcquired", "b"), Property("MTU", "q"),
    ])

  static let descriptor = InterfaceDescription(
    methods: [Member("ReadValue", "a{sv}", returns: "ay"), Member("WriteValue", "aya{sv}")],
    properties: [
      Property("Handle", "q"), Property("UUID", "s"), Property("Characteristic", "o"), Property("Value", "ay"),
      Property("Flags", "as"),
    ])

  static let gattManager = InterfaceDescription(
    methods: [Member("RegisterApplication", "oa{sv}"), Member("UnregisterApplication", "o")])

  static let advertisingManager = InterfaceDescription(
    methods: [Member("RegisterAdvertisement", "oa{sv}"), Member("UnregisterAdvertisement", "o")],
    properties: [
      Property("ActiveInstances", "y"), Property("SupportedInstances", "y"), Property("SupportedIncludes", "as"),
      Property("SupportedSecondaryChannels", "as"), Property("SupportedCapabilities", "a{sv}"),
      Property("SupportedFeatures", "as"),
    ])

  static let monitorManager = InterfaceDescription(
    methods: [Member("RegisterMonitor", "o"), Member("UnregisterMonitor", "o")],
    properties: [Property("SupportedMonitorTypes", "as"), Property("SupportedFeatures", "as")])

  static let agentManager = InterfaceDescription(
    methods: [
      Member("RegisterAgent", "os"), Member("UnregisterAgent", "o"), Member("RequestDefaultAgent", "o"),
    ])

  static let profileManager = InterfaceDescription(
    methods: [Member("RegisterProfile", "osa{sv}"), Member("UnregisterProfile", "o")])

  // D-Bus Specification, Standard Interfaces.
  static let objectManager = InterfaceDescription(
    methods: [Member("GetManagedObjects", returns: "a{oa{sa{sv}}}")],
    signals: [Member("InterfacesAdded", "oa{sa{sv}}"), Member("InterfacesRemoved", "oas")])

  static let properties = InterfaceDescription(
    methods: [
      Member("Get", "ss", returns: "v"), Member("Set", "ssv"), Member("GetAll", "s", returns: "a{sv}"),
    ],
    signals: [Member("PropertiesChanged", "sa{sv}as")])

  static let introspectable = InterfaceDescription(methods: [Member("Introspect", returns: "s")])

  static let peer = InterfaceDescription(methods: [Member("Ping"), Member("GetMachineId", returns: "s")])
}
