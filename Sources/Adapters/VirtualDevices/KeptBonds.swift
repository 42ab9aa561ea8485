import Adapter
import Bluetooth
import BluetoothCrypto

/// The bonds of a device or a phone. The bonds of earlier runs are found in those of the adapters, whose owner stores
/// them: a device whose simulation was restarted has not lost its keys.
final class KeptBonds: BondSource {
  /// Returns the bonds of earlier runs.
  var earlier: () -> [Bond] = { [] }
  /// The bonds of this run.
  private var own: [Bond] = []
  private var hasForgotten = false

  var all: [Bond] {
    guard !hasForgotten else { return own }
    let ids = Set(own.map(\.id))
    return own + earlier().filter { !ids.contains($0.id) }
  }

  func keep(_ bond: Bond) { own = own.filter { $0.id != bond.id } + [bond] }

  /// All keys are lost.
  func forget() {
    own = []
    hasForgotten = true
  }

  /// The identity of a bonded peer by its address on a link, which may be a private one; nil without a bond.
  func identity(of peer: DeviceAddress) -> DeviceAddress? {
    all.first { bond in
      let key = bond.identityResolvingKey.flatMap { Key128(littleEndian: $0) }
      return bond.peer == peer || key.map { peer.isResolved(by: $0) } == true
    }?.peer
  }
}

extension Bond {
  /// This bond as the other side has it.
  /// - Parameter key: the key that resolves this side's private addresses; nil if it has none.
  func ofOtherSide(_ key: [UInt8]?) -> Bond {
    var bond = Bond(local: peer, peer: local)
    bond.identityResolvingKey = key
    for key in longTermKeys {
      bond.add(
        LongTermKey(
          value: key.value, size: key.size, diversifier: key.diversifier, random: key.random,
          isAuthenticated: key.isAuthenticated, isSecureConnections: key.isSecureConnections,
          role: key.role == .central ? .peripheral : .central))
    }
    for key in signatureKeys {
      bond.add(SignatureKey(value: key.value, isOurs: !key.isOurs, isAuthenticated: key.isAuthenticated))
    }
    return bond
  }
}
