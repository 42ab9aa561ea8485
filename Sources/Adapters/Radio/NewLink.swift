import Adapter
import Bluetooth
import HCI

/// A new link, established or failed, from the controller's events or the kernel's list.
struct NewLink {
  let status: HCIStatus
  let handle: ConnectionHandle
  /// Our role.
  let role: LinkRole
  /// Nil if not reported by the controller.
  let peer: DeviceAddress?
  /// Nil if they are not known.
  let parameters: LinkParameters?

  init(_ event: LEConnectionComplete) {
    (status, handle, peer) = (event.status, event.handle, event.peer.device)
    role = event.role == 0 ? .central : .peripheral
    parameters = LinkParameters(event.interval, event.latency, event.supervisionTimeout)
  }

  init(_ event: LEEnhancedConnectionComplete) {
    (status, handle, peer) = (event.status, event.handle, event.peer.device)
    role = event.role == 0 ? .central : .peripheral
    parameters = LinkParameters(event.interval, event.latency, event.supervisionTimeout)
  }

  /// A link without an event.
  init(_ link: ExistingLink) {
    (status, handle, role, peer, parameters) = (.success, link.handle, link.role, link.peer, nil)
  }
}
