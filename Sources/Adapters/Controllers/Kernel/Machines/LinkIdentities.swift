import Bluetooth

/// The devices on the links of one controller, each by two addresses: the one by which users know it, and the one by
/// which the kernel does, which is its identity once it has told that.
struct LinkIdentities {
  private struct Device {
    let peer: DeviceAddress
    var identity: DeviceAddress
  }

  private var devices: [UInt16: Device] = [:]

  /// A link was announced.
  /// - Parameter identity: the address by which the kernel knows the device.
  mutating func began(_ handle: UInt16, _ peer: DeviceAddress, identity: DeviceAddress) {
    devices[handle] = Device(peer: peer, identity: identity)
  }

  /// A link has ended.
  mutating func ended(_ handle: UInt16) { devices[handle] = nil }

  /// The device on a link has told its identity.
  mutating func identified(_ handle: UInt16, as identity: DeviceAddress) { devices[handle]?.identity = identity }

  /// Whether there is no link.
  var isEmpty: Bool { devices.isEmpty }

  /// The address by which the kernel knows the device on a link.
  func identity(on handle: UInt16) -> DeviceAddress? { devices[handle]?.identity }

  /// The address by which the kernel knows a device that users name.
  func identity(of peer: DeviceAddress) -> DeviceAddress {
    devices.values.first { $0.peer == peer }?.identity ?? peer
  }

  /// The address by which users know a device that the kernel names.
  func known(_ identity: DeviceAddress) -> DeviceAddress {
    devices.values.first { $0.identity == identity }?.peer ?? identity
  }

  /// The links to the device that the kernel knows by this address.
  func handles(of identity: DeviceAddress) -> [UInt16] { handles { $0 == identity } }

  /// The links to devices that the kernel knows by addresses that fit.
  func handles(where fits: (DeviceAddress) -> Bool) -> [UInt16] {
    devices.filter { fits($0.value.identity) }.keys.sorted()
  }
}
