import Bluetooth

/// The controller of a management packet.
package struct ControllerIndex: RawRepresentable, PacketField, Hashable, Sendable {
  /// The number: 0 for hci0; 0xFFFF for none.
  package let rawValue: UInt16
  package init() { rawValue = 0xFFFF }
  /// Makes an index from a number.
  package init(rawValue: UInt16) { self.rawValue = rawValue }
  /// No controller: the packet is about the kernel as a whole.
  package static let none = ControllerIndex()
  /// The kernel's name for the controller: "hci0".
  package var name: String { "hci\(rawValue)" }
}

/// A packet of the kernel's management interface, in either direction (mgmt-api).
package struct ManagementPacket: PacketParameters {
  /// A command's opcode or an event's code.
  package var code: UInt16 = 0
  /// The packet's controller.
  package var index = ControllerIndex.none
  /// The parameters.
  package var parameters: [UInt8] = []

  package init() {}
  /// Makes a packet from its parts.
  package init(code: UInt16, index: ControllerIndex, parameters: [UInt8]) {
    self.code = code
    self.index = index
    self.parameters = parameters
  }
  /// Packs a command.
  package init<Command: ManagementCommand>(_ command: Command, index: ControllerIndex = .none) {
    self.init(code: Command.opcode, index: index, parameters: command.octets)
  }
  /// Packs an event.
  package init<Event: ManagementEventParameters>(event: Event, index: ControllerIndex = .none) {
    self.init(code: Event.code, index: index, parameters: event.octets)
  }
  /// Reads a whole packet.
  /// - Throws: `.trailingOctets` too, if it does not end where its length says.
  package init(decoding octets: [UInt8]) throws(HCICodingError) {
    var coder = OctetCoder(reading: octets)
    self = try coder.read()
    try coder.end()
  }
  /// Returns true if an unread packet is Device Found (mgmt-api, event 0x0012).
  package static func isDeviceFound(_ octets: [UInt8]) -> Bool {
    octets.count > 1 && octets[0] == 0x12 && octets[1] == 0x00
  }
  /// Returns true if Device Found reports an LE device.
  package static func isOfLowEnergy(deviceFound octets: [UInt8]) -> Bool { octets.count > 12 && octets[12] != 0 }
  package mutating func code(with coder: inout OctetCoder) {
    coder.fields(&code, &index)
    coder.octets(&parameters, countedBy: UInt16.self)
  }
}

/// A command to the kernel.
package protocol ManagementCommand: PacketParameters {
  /// Identifies the command.
  static var opcode: UInt16 { get }
}

/// The parameters of an event kind.
package protocol ManagementEventParameters: PacketParameters {
  /// The event code.
  static var code: UInt16 { get }
}

// MARK: - Parts of several packets

/// A device as the management interface names it: address first, then type.
package struct ManagementAddress: PacketParameters {
  /// The 48 bits as a number.
  package var value: UInt64 = 0
  /// 0 BR/EDR, 1 LE public, 2 LE random.
  package var type: UInt8 = 0

  package init() {}
  /// An LE device's address.
  package init(_ device: DeviceAddress) {
    value = device.value
    type = device.kind == .public ? 1 : 2
  }
  package mutating func code(with coder: inout OctetCoder) {
    coder.number(&value, octets: 6)
    coder.fields(&type)
  }

  /// The LE device behind it; nil for one of BR/EDR.
  package var device: DeviceAddress? {
    switch type {
    case 1: DeviceAddress(value: value, kind: .public)
    case 2: DeviceAddress(value: value, kind: .random)
    default: nil
    }
  }
}

/// Parameters consisting of a device.
package protocol ManagementDeviceParameters: PacketParameters {
  /// The device.
  var device: ManagementAddress { get set }
}

extension ManagementDeviceParameters {
  package init(device: ManagementAddress) {
    self.init()
    self.device = device
  }
  package mutating func code(with coder: inout OctetCoder) { coder.fields(&device) }
}

/// A controller's settings (mgmt-api, Read Controller Information).
package struct ManagementSettings: OptionSet, PacketField, Hashable, Sendable {
  /// The bits on the socket.
  package let rawValue: UInt32
  package init(rawValue: UInt32) { self.rawValue = rawValue }

  /// The controller has power.
  package static let powered = ManagementSettings(rawValue: 1 << 0)
  /// Advertisements are connectable.
  package static let connectable = ManagementSettings(rawValue: 1 << 1)
  /// The controller accepts bonding.
  package static let bondable = ManagementSettings(rawValue: 1 << 4)
  /// Secure Simple Pairing, of BR/EDR.
  package static let secureSimplePairing = ManagementSettings(rawValue: 1 << 6)
  /// BR/EDR.
  package static let basicRate = ManagementSettings(rawValue: 1 << 7)
  /// LE.
  package static let lowEnergy = ManagementSettings(rawValue: 1 << 9)
  /// The kernel advertises by itself.
  package static let advertising = ManagementSettings(rawValue: 1 << 10)
  /// LE Secure Connections.
  package static let secureConnections = ManagementSettings(rawValue: 1 << 11)
  /// The kernel uses private addresses.
  package static let privacy = ManagementSettings(rawValue: 1 << 13)
}

/// How the kernel answers a command (mgmt-api, Error codes).
package struct ManagementStatus: RawRepresentable, PacketField, Hashable, Sendable {
  /// The octet on the socket.
  package let rawValue: UInt8
  package init() { rawValue = 0 }
  /// Makes a status from the octet.
  package init(rawValue: UInt8) { self.rawValue = rawValue }

  /// The command succeeded.
  package static let success = ManagementStatus(rawValue: 0x00)
  /// The command failed.
  package static let failed = ManagementStatus(rawValue: 0x03)
  /// A device could not prove its identity.
  package static let authenticationFailed = ManagementStatus(rawValue: 0x05)
  /// rfkill keeps the controller off.
  package static let rfkilled = ManagementStatus(rawValue: 0x12)
  /// There are keys for this device.
  package static let alreadyPaired = ManagementStatus(rawValue: 0x13)
  /// The process lacks CAP_NET_ADMIN.
  package static let permissionDenied = ManagementStatus(rawValue: 0x14)
}
