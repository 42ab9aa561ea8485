import Bluetooth
import HCI

extension LEEnhancedConnectionComplete {
  /// The link and the private address of its device, if the controller resolved that.
  var resolved: (handle: ConnectionHandle, address: DeviceAddress)? {
    guard status.isSuccess, peer.type == .publicIdentity || peer.type == .randomIdentity,
      peerResolvablePrivateAddress != 0
    else { return nil }
    return (handle, DeviceAddress(value: peerResolvablePrivateAddress, kind: .random))
  }
}
