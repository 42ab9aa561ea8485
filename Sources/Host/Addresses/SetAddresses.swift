import Bluetooth
import HCI

/// The random addresses that the advertising sets of a controller have, as it was told: a device that connects to a set
/// knows us by its address.
package struct SetAddresses {
  private var addresses: [UInt8: DeviceAddress] = [:]

  package init() {}

  /// The random address of a set; nil if it has the controller's public one.
  package func address(of handle: UInt8) -> DeviceAddress? { addresses[handle] }

  /// Whether a set may have another address than this one.
  package func mayDiffer(from address: DeviceAddress) -> Bool { addresses.values.contains { $0 != address } }

  /// The controller is sent a command.
  package mutating func sent(_ packet: CommandPacket) {
    switch packet.opcode {
    case LESetExtendedAdvertisingParameters.opcode:
      // The address follows if it is to have one.
      if let handle = packet.parameters.first { addresses[handle] = nil }
    case LESetAdvertisingSetRandomAddress.opcode:
      guard let command = try? LESetAdvertisingSetRandomAddress(decoding: packet) else { return }
      addresses[command.advertisingHandle] = DeviceAddress(value: command.address, kind: .random)
    default: break
    }
  }
}
