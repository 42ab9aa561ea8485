import Adapter
import Bluetooth
import BluetoothCrypto

/// The party at one end of a simulated link: an adapter for the daemon, or a device or a phone of the scenario.
protocol PairingParty: AnyObject {
  /// Its identity address.
  var identity: DeviceAddress { get }
  /// The key that resolves its private addresses; nil if it has none.
  var identityResolvingKey: Key128? { get }
  /// The source of the keys of its pairings; nil if the other side decides.
  var keys: SimulatedKeys? { get }

  /// The features that it announces; nil if it does not pair.
  /// - Parameters:
  ///   - level: the level that it requests for the link, 2 to 4; nil if the other side began.
  ///   - capability: the capability of this side for this pairing; nil for the usual one.
  func features(wanted level: Int?, as capability: PairingCapability?) -> PairingFeatures?
  /// A number from 0 to 999999, different each time.
  func drawNumber() -> UInt32
  /// The passkey that it shows, 0 to 999999.
  func drawPasskey() -> UInt32

  /// Asks the user of this side.
  func ask(_ prompt: PairingPrompt)
  /// Shows a passkey, to be typed at the other side.
  func show(_ passkey: UInt32, to peer: DeviceAddress)
  /// A pairing has succeeded.
  /// - Parameter bond: the keys to keep; nil if one side keeps none.
  func paired(with peer: DeviceAddress, _ bond: Bond?)
  /// A pairing has failed.
  func pairingFailed(with peer: DeviceAddress, _ error: BluetoothError)
  /// The link could not be encrypted: the other side (`theirs`) or this one has no key for it.
  func keysLost(with peer: DeviceAddress, theirs: Bool)

  /// The stored key for links with this device on which it has this role.
  func longTermKey(with peer: DeviceAddress, as role: LinkRole) -> LongTermKey?
  /// True if it has this key for such links.
  func recognises(_ key: LongTermKey, of peer: DeviceAddress, as role: LinkRole) -> Bool
  /// True if it pairs, or encrypts the link, when a peripheral requests it.
  var followsSecurityRequests: Bool { get }
}

/// A question to one side of a pairing.
struct PairingPrompt {
  let question: PairingQuestion
  /// The other side's address on the link.
  let peer: DeviceAddress
  /// True if the asked side is the central and began by itself.
  let isOwnPairing: Bool
  /// The passkey that the other side shows.
  let shown: UInt32?
  /// Receives the answer. A late answer is ignored.
  let answer: (PairingAnswer) -> Void
}
