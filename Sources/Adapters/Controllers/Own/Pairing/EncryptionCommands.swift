import Bluetooth
import BluetoothCrypto
import HCI
import Host
import Radio

/// Makes the controller encrypt links, as central, and answers its requests for their keys, as peripheral.
///
/// Some controllers do not begin to encrypt during another procedure of the link, such as the one that Read Remote
/// Features starts: the command is repeated every 100 ms, for 30 s.
final class EncryptionCommands {
  private static let busy: Set<HCIErrorCode> = [.commandDisallowed, .controllerBusy]
  private static let pause = Duration.milliseconds(100)
  private static let attempts = 300

  private let controller: any ControllerCommands
  private let context: AdapterContext

  init(_ controller: any ControllerCommands, in context: AdapterContext) {
    self.controller = controller
    self.context = context
  }

  /// Encrypts a link.
  /// - Parameters:
  ///   - isWanted: returns true if it is still to be encrypted with this key, later.
  ///   - onRefusal: called with the controller's reason for not beginning.
  func encrypt(
    _ handle: ConnectionHandle, with key: EncryptionKey, while isWanted: @escaping () -> Bool,
    onRefusal: @escaping (HCIStatus) -> Void
  ) {
    let command = LEEnableEncryption {
      $0.handle = handle
      ($0.randomNumber, $0.encryptedDiversifier) = (key.random, key.diversifier)
      $0.longTermKey = key.value.littleEndian
    }
    send(CommandPacket(command), Self.attempts, isWanted, onRefusal)
  }

  private func send(
    _ command: CommandPacket, _ attempts: Int, _ isWanted: @escaping () -> Bool,
    _ onRefusal: @escaping (HCIStatus) -> Void
  ) {
    controller.ask(command) { [weak self, context] answer in
      guard !answer.status.isSuccess else { return }
      guard attempts > 1, answer.status.code.map(Self.busy.contains) == true else { return onRefusal(answer.status) }
      _ = context.scheduler.schedule(after: Self.pause) {
        if isWanted() { self?.send(command, attempts - 1, isWanted, onRefusal) }
      }
    }
  }

  /// Answers the controller's request for a key; nil if there is none.
  func reply(_ handle: ConnectionHandle, _ key: Key128?) {
    guard let key else {
      return controller.ask(CommandPacket(LELongTermKeyRequestNegativeReply(handle: handle))) { _ in }
    }
    let reply = LELongTermKeyRequestReply {
      $0.handle = handle
      $0.longTermKey = key.littleEndian
    }
    controller.ask(CommandPacket(reply)) { _ in }
  }
}
