/// The interfaces that are served (BlueZ, doc/org.bluez.*.rst), by their names.
package enum Interface: String, Hashable, Sendable, CaseIterable {
  case adapter = "org.bluez.Adapter1"
  case device = "org.bluez.Device1"
  case battery = "org.bluez.Battery1"
  case batteryProviderManager = "org.bluez.BatteryProviderManager1"
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
