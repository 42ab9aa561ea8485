import Adapter
import Bluetooth
import BluetoothCrypto
import Scenarios

/// The keys of simulated devices. They follow from the scenario's seed and the addresses, so a device and the daemon
/// agree on them even after a restart of either.
struct SimulatedKeys: Sendable {
  /// The keys that do not depend on a pairing.
  let keys: DeviceKeys

  /// - Parameter seed: the seed of the scenario.
  init(seed: UInt64) { keys = DeviceKeys(seed: seed) }

  /// The identity resolving key of a device.
  func identityResolvingKey(of device: DeviceAddress) -> Key128 { keys.identityResolvingKey(of: device) }

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
          value: cut(keys.key("sc \(isAuthenticated)", devices), outcome.keySize), size: outcome.keySize,
          diversifier: 0,
          random: 0, isAuthenticated: isAuthenticated, isSecureConnections: true, role: role)
      ]
    }
    // In legacy pairing each side makes a key for the links on which it is peripheral.
    return [LinkRole.peripheral, .central].map { maker in
      let value = keys.key("legacy \(maker) \(isAuthenticated)", devices)
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
}
