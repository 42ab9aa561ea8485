import Bluetooth
import HCI

/// How the daemon answers when a pairing asks for a person. The kernel waits for ever for an answer, so each question gets one.
struct PairingPolicy {
  /// Whether pairing without any check is accepted from devices that ask for it.
  var acceptsJustWorks = true
  /// The devices with which we started to pair.
  var started: Set<DeviceAddress> = []

  /// The answer to a question of the kernel; nil if the event asks nothing.
  func answer(to event: ManagementEvent, index: ControllerIndex) -> ManagementPacket? {
    switch event {
    case .userConfirmationRequest(let request):
      // With a hint of 0 somebody would have to compare numbers, and there is nobody.
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
