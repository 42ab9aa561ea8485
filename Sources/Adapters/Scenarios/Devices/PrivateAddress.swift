import Bluetooth
import BluetoothCrypto

/// The resolvable private addresses of a device (Core 5.4, Vol 6, Part B, 1.3.2.2), which change from time to time.
package final class PrivateAddress {
  private let context: SimulationContext
  private let key: Key128
  private let period: Duration
  private var generator: SeededGenerator
  private var current: (turn: Int64, address: DeviceAddress)?

  /// - Parameters:
  ///   - identity: the identity address of the device.
  ///   - period: the lifetime of an address; nil if it uses none.
  package init?(of identity: DeviceAddress, period: Duration?, _ keys: DeviceKeys, in context: SimulationContext) {
    guard let period else { return nil }
    self.context = context
    key = keys.identityResolvingKey(of: identity)
    self.period = period
    generator = context.generator(Stream.privacy.of(identity))
  }

  /// The present address.
  package var address: DeviceAddress {
    let turn = context.age.wholeNanoseconds / max(period.wholeNanoseconds, 1)
    if let current, current.turn == turn { return current.address }
    let random = UInt32(truncatingIfNeeded: generator.next()) & 0x3F_FFFF | 0x40_0000
    let hash = KeyDerivation.ah(k: key, r: random)
    let address = DeviceAddress(value: UInt64(random) << 24 | UInt64(hash & 0xFF_FFFF), kind: .random)
    current = (turn, address)
    return address
  }
}
