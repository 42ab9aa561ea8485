import Bluetooth
import HCI

/// The random addresses set for a controller's advertising sets: a device that connects to a set knows us by its
/// address.
///
/// The event about a connection to a set follows the link's event, but precedes it with some controllers. Then the
/// address is kept, for at most 4 links and 1 s.
package struct SetAddresses {
  /// A set's end by a link not reported yet.
  package struct End {
    /// The set's address; nil for the controller's public one.
    package let address: DeviceAddress?
    fileprivate let time: Instant
  }

  private static let maximum = 4
  private static let time = Duration.seconds(1)

  private var addresses: [UInt8: DeviceAddress] = [:]
  private var ends: [ConnectionHandle: End] = [:]

  package init() {}

  /// A set's random address; nil for the controller's public one.
  package func address(of handle: UInt8) -> DeviceAddress? { addresses[handle] }

  /// True if a set may have an address other than this one.
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
    case LERemoveAdvertisingSet.opcode: if let handle = packet.parameters.first { addresses[handle] = nil }
    case LEClearAdvertisingSets.opcode: addresses = [:]
    default: break
    }
  }

  /// A device connected to a set by a link not reported yet.
  package mutating func ended(_ set: UInt8, by link: ConnectionHandle, at now: Instant) {
    ends = ends.filter { $0.value.time.duration(to: now) < Self.time }
    guard ends.count < Self.maximum else { return }
    ends[link] = End(address: addresses[set], time: now)
  }

  /// A link was established.
  /// - Returns: nil without a recent end of its set.
  package mutating func takeEnd(by link: ConnectionHandle, at now: Instant) -> End? {
    ends.removeValue(forKey: link).flatMap { $0.time.duration(to: now) < Self.time ? $0 : nil }
  }
}
