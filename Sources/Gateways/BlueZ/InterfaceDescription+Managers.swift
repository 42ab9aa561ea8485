/// The members of the managers, at which programs register objects of their own.
extension InterfaceDescription {
  static let gattManager = InterfaceDescription(
    methods: [
      Method("RegisterApplication", "oa{sv}") { $0.applications.register($1, $2) },
      Method("UnregisterApplication", "o") { $0.applications.unregister($1, $2) },
    ])

  static let advertisingManager = InterfaceDescription(
    methods: [
      Method("RegisterAdvertisement", "oa{sv}") { $0.advertisements.register($1, $2) },
      Method("UnregisterAdvertisement", "o") { $0.advertisements.unregister($1, $2) },
    ],
    properties: [
      Property("ActiveInstances", "y"), Property("SupportedInstances", "y"), Property("SupportedIncludes", "as"),
      Property("SupportedSecondaryChannels", "as"), Property("SupportedCapabilities", "a{sv}"),
      Property("SupportedFeatures", "as"),
    ])

  static let monitorManager = InterfaceDescription(
    methods: [
      Method("RegisterMonitor", "o") { $0.monitors.register($1, $2) },
      Method("UnregisterMonitor", "o") { $0.monitors.unregister($1, $2) },
    ],
    properties: [Property("SupportedMonitorTypes", "as"), Property("SupportedFeatures", "as")])

  static let batteryProviderManager = InterfaceDescription(
    methods: [
      Method("RegisterBatteryProvider", "o") { $0.batteryProviders.register($1, $2) },
      Method("UnregisterBatteryProvider", "o") { $0.batteryProviders.unregister($1, $2) },
    ])

  static let agentManager = InterfaceDescription(
    methods: [
      Method("RegisterAgent", "os") { $0.agents.register($1, $2) },
      Method("UnregisterAgent", "o") { $0.agents.unregister($1, $2) },
      Method("RequestDefaultAgent", "o") { $0.agents.requestDefault($1, $2) },
    ])

  /// Profiles are of the classic transport.
  static let profileManager = InterfaceDescription(
    methods: [
      Method("RegisterProfile", "osa{sv}", notSupported), Method("UnregisterProfile", "o", notSupported),
    ])

  // MARK: D-Bus Specification, Standard Interfaces

  static let objectManager = InterfaceDescription(
    methods: [Method("GetManagedObjects", returns: "a{oa{sa{sv}}}")],
    signals: [Signal("InterfacesAdded", "oa{sa{sv}}"), Signal("InterfacesRemoved", "oas")])

  static let properties = InterfaceDescription(
    methods: [
      Method("Get", "ss", returns: "v"), Method("Set", "ssv"), Method("GetAll", "s", returns: "a{sv}"),
    ],
    signals: [Signal("PropertiesChanged", "sa{sv}as")])

  static let introspectable = InterfaceDescription(methods: [Method("Introspect", returns: "s")])

  static let peer = InterfaceDescription(methods: [Method("Ping"), Method("GetMachineId", returns: "s")])
}
