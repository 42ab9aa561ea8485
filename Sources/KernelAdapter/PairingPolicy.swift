import Bluetooth
import HCI

/// How the daemon answers when a pairing requires user input. The kernel waits for an answer forever, so each request
/// gets one.
struct PairingPolicy {
  /// Whether pairing without any check is accepted from devices that ask for it.
  var acceptsJustWorks = true
  /// The devices with which we initiated pairing.
  var started: Set<DeviceAddress> = []

  /// The answer to a request of the kernel; nil if the event is not a request.
  func answer(to event: ManagementEvent, index: ControllerIndex) -> ManagementPacket? {
    switch event {
    case .userConfirmationRequest(let request):
      // With a hint of 0 a user would have to compare numbers, and there is no user.
      let isOurs = request.device.device.map(started.contains) ?? false
      return request.confirmHint == 1 && (isOurs || acceptsJustWorks)
        ? ManagementPacket(UserConfirmationReply(device: request.device), index: index)
        : ManagementPacket(UserConfirmationNegativeReply(device: request.device), index: index)
    case .userPasskeyRequest(let request):
      return ManagementPacket(UserPasskeyNegativeReply(device: request.device), index: index)
    default: return nil
    }
  }
}
