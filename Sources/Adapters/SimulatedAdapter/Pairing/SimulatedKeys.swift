import Adapter
import Bluetooth
import BluetoothCrypto
import Scenarios

/// The keys of simulated devices. They follow from the scenario's seed and the addresses, so a device and the daemon
/// agree on them even after a restart of either.
struct SimulatedKeys: Sendable {
  private let secret: Key128

  /// - Parameter seed: the seed of the scenario.
  init(seed: UInt64) { secret = AES128.cmac(Self.octets(seed), key: .zero) }

  /// The identity resolving key of a device.
  func identityResolvingKey(of device: DeviceAddress) -> Key128 { key("irk", [device]) }

  /// The keys for encryption that two devices keep after a pairing.
  /// - Parameters:
  ///   - central: the identity address of the side that was central.
  ///   - peripheral: the identity address of the side that was peripheral.
  ///   - role: the role of the side with this view.
  func longTermKeys(
    central: DeviceAddress, peripheral: DeviceAddress, _ outcome: PairingMachine.Outcome, for role: LinkRole
  ) -> [LongTermKey] {
    let isAuthenticated = outcome.method.isAuthenticated
    let devices = [central, peripheral]
    if outcome.isSecureConnections {
      return [
        LongTermKey(
          value: cut(key("sc \(isAuthenticated)", devices), outcome.keySize), size: outcome.keySize, diversifier: 0,
          random: 0, isAuthenticated: isAuthenticated, isSecureConnections: true, role: role)
      ]
    }
    // In legacy pairing each side makes a key for the links on which it is peripheral.
    return [LinkRole.peripheral, .central].map { maker in
      let value = key("legacy \(maker) \(isAuthenticated)", devices)
      let name = value.bigEndian.prefix(8).reduce(0 as UInt64) { $0 << 8 | UInt64($1) }
      return LongTermKey(
        value: cut(value, outcome.keySize), size: outcome.keySize, diversifier: UInt16(truncatingIfNeeded: name),
        random: name, isAuthenticated: isAuthenticated, isSecureConnections: false,
        role: maker == role ? .peripheral : .central)
    }
  }

  /// These keys, as they would be if such a key were one of them.
  func longTermKeys(
    central: DeviceAddress, peripheral: DeviceAddress, like key: LongTermKey, for role: LinkRole
  ) -> [LongTermKey] {
    let outcome = PairingMachine.Outcome(
      method: key.isAuthenticated ? .comparison : .justWorks, isSecureConnections: key.isSecureConnections,
      keySize: key.size, bonds: true)
    return longTermKeys(central: central, peripheral: peripheral, outcome, for: role)
  }

  /// Octets beyond the key's size are zero (Core 5.4, Vol 3, Part H, 2.3.4).
  private func cut(_ key: Key128, _ size: Int) -> [UInt8] {
    key.littleEndian.enumerated().map { $0.offset < size ? $0.element : 0 }
  }

  private func key(_ purpose: String, _ devices: [DeviceAddress]) -> Key128 {
    AES128.cmac(purpose.utf8 + devices.flatMap { [$0.kind.rawValue] + Self.octets($0.value) }, key: secret)
  }

  private static func octets(_ number: UInt64) -> [UInt8] {
    (0..<8).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
  }
}

/// The resolvable private addresses of a device (Core 5.4, Vol 6, Part B, 1.3.2.2), which change from time to time.
final class PrivateAddress {
  private unowned let air: Air
  private let key: Key128
  private let period: Duration
  private var generator: SeededGenerator
  private var current: (turn: Int64, address: DeviceAddress)?

  /// - Parameters:
  ///   - identity: the identity address of the device.
  ///   - period: the lifetime of an address; nil if it uses none.
  init?(of identity: DeviceAddress, period: Duration?, air: Air) {
    guard let period else { return nil }
    self.air = air
    key = air.keys.identityResolvingKey(of: identity)
    self.period = period
    generator = air.generator(Stream.privacy.of(identity))
  }

  /// The present address.
  var address: DeviceAddress {
    let turn = air.age.wholeNanoseconds / max(period.wholeNanoseconds, 1)
    if let current, current.turn == turn { return current.address }
    let random = UInt32(truncatingIfNeeded: generator.next()) & 0x3F_FFFF | 0x40_0000
    let hash = KeyDerivation.ah(k: key, r: random)
    let address = DeviceAddress(value: UInt64(random) << 24 | UInt64(hash & 0xFF_FFFF), kind: .random)
    current = (turn, address)
    return address
  }
}
