import Adapter
import BluetoothCrypto

/// The key from LE Secure Connections, and the values by which both sides prove it (Core 5.4, Vol 3, Part H,
/// 2.3.5.6.5).
struct SecureChecks: Sendable {
  let ours: Key128
  let theirs: Key128
  let longTermKey: Key128

  /// - Parameters:
  ///   - secret: DHKey.
  ///   - ownNonce: our last nonce.
  ///   - peerNonce: the other side's last nonce.
  init(_ parameters: PairingParameters, secret: [UInt8], ownNonce: Key128, peerNonce: Key128, passkey: UInt32?) {
    let isInitiator = parameters.role == .central
    let (macKey, longTermKey) = SecureConnections.f5(
      w: secret, n1: isInitiator ? ownNonce : peerNonce, n2: isInitiator ? peerNonce : ownNonce,
      initiator: parameters.initiator, responder: parameters.responder)
    self.longTermKey = longTermKey
    ours = SecureConnections.f6(
      w: macKey, n1: ownNonce, n2: peerNonce, r: Self.random(parameters, passkey, ofPeer: true),
      ioCapability: parameters.ours.checked, sender: parameters.local, receiver: parameters.peer)
    theirs = SecureConnections.f6(
      w: macKey, n1: peerNonce, n2: ownNonce, r: Self.random(parameters, passkey, ofPeer: false),
      ioCapability: parameters.theirs.checked, sender: parameters.peer, receiver: parameters.local)
  }

  /// The passkey, or the out-of-band data's random value, zero if the receiver has none. Each side proves that it knows
  /// the other's.
  private static func random(_ parameters: PairingParameters, _ passkey: UInt32?, ofPeer: Bool) -> Key128 {
    if let passkey { return Key128(passkey) }
    guard parameters.method == .outOfBand else { return .zero }
    let (terms, receiver) = (parameters.terms, ofPeer ? parameters.ours : parameters.theirs)
    guard receiver.hasOutOfBandData else { return .zero }
    return (ofPeer ? terms.outOfBand.flatMap { Key128(littleEndian: $0.random) } : terms.ownOutOfBand?.random) ?? .zero
  }
}
