import Bluetooth
import HCI

extension LEEnhancedConnectionComplete {
  /// The private address of a new link's device, if the controller resolved it.
  var resolvedPeer: DeviceAddress? {
    guard status.isSuccess, peer.type == .publicIdentity || peer.type == .randomIdentity else { return nil }
    return Self.privateAddress(peerResolvablePrivateAddress)
  }

  /// Our private address on a new link, if the controller made it.
  var madeLocal: DeviceAddress? { status.isSuccess ? Self.privateAddress(localResolvablePrivateAddress) : nil }

  private static func privateAddress(_ value: UInt64) -> DeviceAddress? {
    value == 0 ? nil : DeviceAddress(value: value, kind: .random)
  }
}
