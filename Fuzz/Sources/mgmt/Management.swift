import Fuzzing
import HCI

/// Events of the kernel's management interface, and what its commands return: decoded, encoded, and decoded as the
/// same.
@main
enum Management {
  static func main() {
    fuzz { octets in
      guard let packet = try? ManagementPacket(decoding: octets) else { return }
      invariant(packet.octets == octets, "\(octets) became \(packet.octets)")
      guard let event = try? ManagementEvent(decoding: packet) else { return }
      check(event, packet)
    }
  }

  private static func check(_ event: ManagementEvent, _ packet: ManagementPacket) {
    switch event {
    case .commandComplete(let event):
      compare(event, packet)
      check(ControllerIndexList.self, event.returnParameters)
      check(ControllerInformation.self, event.returnParameters)
    case .commandStatus(let event): compare(event, packet)
    case .indexAdded, .indexRemoved, .controllerResume: break
    case .controllerSuspend(let event): compare(event, packet)
    case .newSettings(let event): compare(event, packet)
    case .newLongTermKey(let event): compare(event, packet)
    case .newIdentityResolvingKey(let event): compare(event, packet)
    case .newSignatureResolvingKey(let event): compare(event, packet)
    case .deviceConnected(let event): compare(event, packet)
    case .deviceDisconnected(let event): compare(event, packet)
    case .connectFailed(let event): compare(event, packet)
    case .userConfirmationRequest(let event): compare(event, packet)
    case .userPasskeyRequest(let event): compare(event, packet)
    case .passkeyNotify(let event): compare(event, packet)
    case .authenticationFailed(let event): compare(event, packet)
    case .deviceUnpaired(let event): compare(event, packet)
    case .other(let other): invariant(other == packet, "\(packet) became \(other)")
    }
  }

  private static func compare(_ event: some ManagementEventParameters, _ packet: ManagementPacket) {
    let again = ManagementPacket(event: event, index: packet.index)
    invariant(
      again.code == packet.code && again.index == packet.index && packet.parameters.starts(with: again.parameters),
      "\(packet) became \(again)")
  }

  /// Texts in fields of fixed length lose what stands behind their end, so values are compared instead of octets.
  private static func check<Parameters: PacketParameters>(_: Parameters.Type, _ octets: [UInt8]) {
    guard let decoded = try? Parameters(decoding: octets) else { return }
    invariant((try? Parameters(decoding: decoded.octets)) == decoded, "\(decoded) is not decoded as itself")
  }
}
