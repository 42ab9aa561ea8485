import Adapter
import HCI

/// A train for a link's device (Core 5.4, Vol 6, Part B, 5.1.13).
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

/// A command about a train on the air, or a followed one.
package enum TrainCommand: Hashable {
  /// A link's device can follow it.
  case transfer(TrainTransfer)
  /// These subevents of it are received, in place of earlier ones.
  case receive([UInt8], of: PeriodicTrain)
  /// This is sent, once.
  case respond(TrainResponse, to: PeriodicTrain)
}

extension AdvertisingMachine {
  /// The command about a train of ours; nil if it is not on the air.
  func packet(for command: TrainCommand) -> CommandPacket? {
    guard case .transfer(let transfer) = command, case .own(let set) = transfer.train, script?.set != set,
      let entry = entries[set], let handle = entry.handle, case .on(let parameters) = entry.phase,
      parameters.periodic != nil
    else { return nil }
    return CommandPacket(
      LEPeriodicAdvertisingSetInfoTransfer {
        $0.connectionHandle = transfer.link
        $0.serviceData = transfer.serviceData
        $0.advertisingHandle = handle
      })
  }
}

extension SyncMachine {
  /// The command about a train; nil if it is not followed at present.
  func packet(for command: TrainCommand) -> CommandPacket? {
    switch command {
    case .transfer(let transfer):
      guard case .followed(let train) = transfer.train, let handle = handle(of: train) else { return nil }
      return CommandPacket(
        LEPeriodicAdvertisingSyncTransfer {
          $0.connectionHandle = transfer.link
          $0.serviceData = transfer.serviceData
          $0.syncHandle = handle
        })
    case .receive(let subevents, let train):
      guard let handle = handle(of: train) else { return nil }
      return CommandPacket(
        LESetPeriodicSyncSubevent {
          $0.syncHandle = handle
          $0.subevents = subevents
        })
    case .respond(let response, let train):
      guard let handle = handle(of: train) else { return nil }
      return CommandPacket(
        LESetPeriodicAdvertisingResponseData {
          $0.syncHandle = handle
          $0.requestEvent = response.request.event
          $0.requestSubevent = response.request.subevent
          $0.responseSubevent = response.subevent
          $0.slot = response.slot
          $0.data = response.data
        })
    }
  }
}

extension RadioAction {
  /// The controller sends or follows no such train at present.
  static func unknownTrain(question number: Int) -> RadioAction {
    let status = HCIStatus(.unknownAdvertisingIdentifier)
    return .answered(question: number, CommandSlot.Answer(opcode: .none, status: status, complete: nil))
  }
}
