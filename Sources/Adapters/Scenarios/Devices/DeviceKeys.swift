import Bluetooth
import BluetoothCrypto

/// The keys of the devices and phones of a scenario. They follow from its seed and the addresses, so that a device
/// whose simulation was restarted has not lost them.
package struct DeviceKeys: Sendable {
  private let secret: Key128

  /// - Parameter seed: the seed of the scenario.
  package init(seed: UInt64) { secret = AES128.cmac(Self.octets(seed), key: .zero) }

  /// The identity resolving key of a device.
  package func identityResolvingKey(of device: DeviceAddress) -> Key128 { key("irk", [device]) }

  /// The key for a purpose of these devices.
  package func key(_ purpose: String, _ devices: [DeviceAddress]) -> Key128 {
    AES128.cmac(purpose.utf8 + devices.flatMap { [$0.kind.rawValue] + Self.octets($0.value) }, key: secret)
  }

  private static func octets(_ number: UInt64) -> [UInt8] {
    (0..<8).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
  }
}
