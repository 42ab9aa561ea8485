import Bluetooth

/// The devices on the links of one controller, each by two addresses: the users' and the kernel's, which is the
/// identity once the device has revealed it.
struct LinkIdentities {
  private struct Device {
    let peer: DeviceAddress
    var identity: DeviceAddress
  }

  private var devices: [UInt16: Device] = [:]

  /// A link was announced.
  /// - Parameter identity: the device's address in the kernel.
  mutating func began(_ handle: UInt16, _ peer: DeviceAddress, identity: DeviceAddress) {
    devices[handle] = Device(peer: peer, identity: identity)
  }

  /// A link has ended.
  mutating func ended(_ handle: UInt16) { devices[handle] = nil }

  /// The device on a link has revealed its identity.
  mutating func identified(_ handle: UInt16, as identity: DeviceAddress) { devices[handle]?.identity = identity }

  /// True without any link.
  var isEmpty: Bool { devices.isEmpty }

  /// The kernel's address of the device on a link.
  func identity(on handle: UInt16) -> DeviceAddress? { devices[handle]?.identity }

  /// The kernel's address of a device that users name.
  func identity(of peer: DeviceAddress) -> DeviceAddress {
    devices.values.first { $0.peer == peer }?.identity ?? peer
  }

  /// The users' address of a device that the kernel names.
  func known(_ identity: DeviceAddress) -> DeviceAddress {
    devices.values.first { $0.identity == identity }?.peer ?? identity
  }

  /// The links to the device with this address in the kernel.
  func handles(of identity: DeviceAddress) -> [UInt16] { handles { $0 == identity } }

  /// The links to devices with matching addresses in the kernel.
  func handles(where fits: (DeviceAddress) -> Bool) -> [UInt16] {
    devices.filter { fits($0.value.identity) }.keys.sorted()
  }
}
