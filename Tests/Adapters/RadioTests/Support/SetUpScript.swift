import Adapter
import Bluetooth
import HCI

@testable import Radio

/// The set-up of a controller, played by a test.
enum SetUpScript {
  /// - Parameters:
  ///   - features: the features of its page 0.
  ///   - absent: bits that its supported commands lack.
  ///   - answers: its answers to other commands; those without one are refused.
  /// - Returns: the commands sent to it, and its resulting profile: nil if the set-up failed.
  static func play(
    _ features: UInt64, without absent: (octet: Int, bits: UInt8)?, _ answers: [Opcode: [UInt8]]
  ) -> (sent: [CommandPacket], profile: ControllerProfile?) {
    var commands = [UInt8](repeating: 0xFF, count: 64)
    if let absent { commands[absent.octet] &= ~absent.bits }
    let usual: [Opcode: [UInt8]] = [
      LEReadLocalSupportedFeatures.opcode: [0] + octets(features),
      ReadLocalSupportedCommands.opcode: [0] + commands, LESetEventMask.opcode: [0],
    ]
    var machine = SetUpMachine(address: DeviceAddress(value: 0xC011_2233_4455, kind: .public), faults: [])
    var sent: [CommandPacket] = []
    var actions = machine.start(at: .zero)
    while case .send(let packet)? = actions.first {
      sent.append(packet)
      let complete = CommandComplete {
        $0.opcode = packet.opcode
        $0.returnParameters = answers[packet.opcode] ?? usual[packet.opcode] ?? [0x01]
      }
      actions = machine.handle(.commandComplete(complete), at: .zero)
    }
    guard case .done(let profile)? = actions.first else { return (sent, nil) }
    return (sent, profile)
  }

  /// The octets of a page of features, the low ones first.
  static func octets(_ features: UInt64) -> [UInt8] {
    (0..<8).map { UInt8(truncatingIfNeeded: features >> ($0 * 8)) }
  }
}
