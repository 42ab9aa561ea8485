import Adapter
import HCI

/// A train for the device of a link (Core 5.4, Vol 6, Part B, 5.1.13).
package struct TrainTransfer: Hashable {
  package var train: TransferredTrain
  package var link: ConnectionHandle
  /// A value for the device's host.
  package var serviceData: UInt16

  package init(train: TransferredTrain, link: ConnectionHandle, serviceData: UInt16) {
    self.train = train
    self.link = link
    self.serviceData = serviceData
  }
}

extension AdvertisingMachine {
  /// The command that transfers a train of ours; nil if it is not on the air.
  func packet(for transfer: TrainTransfer) -> CommandPacket? {
    guard case .own(let set) = transfer.train, script?.set != set, let entry = entries[set], let handle = entry.handle,
      case .on(let parameters) = entry.phase, parameters.periodic != nil
    else { return nil }
    return CommandPacket(
      LEPeriodicAdvertisingSetInfoTransfer {
        $0.connectionHandle = transfer.link
        $0.serviceData = transfer.serviceData
        $0.advertisingHandle = handle
      })
  }
}

extension RadioAction {
  /// The controller sends or follows no such train at present.
  static func unknownTrain(question number: Int) -> RadioAction {
    let status = HCIStatus(.unknownAdvertisingIdentifier)
    return .answered(question: number, CommandSlot.Answer(opcode: .none, status: status, complete: nil))
  }
}
