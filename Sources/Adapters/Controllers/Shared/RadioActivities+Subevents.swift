import Adapter
import Bluetooth
import HCI
import Radio

/// Trains with subevents that are followed (Core 5.4, Vol 4, Part E, 7.8.126 and 7.8.127).
extension RadioActivities {
  /// Chooses the subevents of a train that are received.
  func setSubevents(
    _ subevents: [UInt8], of train: PeriodicTrain, _ done: @escaping (BluetoothError?) -> Void
  ) {
    request(.receive(subevents, of: train), done) { $0.error("the controller does not receive these subevents") }
  }

  /// Sends a response to a packet of a train.
  func respond(
    _ response: TrainResponse, to train: PeriodicTrain, _ done: @escaping (BluetoothError?) -> Void
  ) {
    request(.respond(response, to: train), done) { status in
      switch status.code {
      case .packetTooLate: status.error("the slot had passed before the controller had the response")
      case .packetTooLong: status.error("the response is longer than a slot of the train")
      default: status.error("the response was not sent")
      }
    }
  }

  private func request(
    _ command: TrainCommand, _ done: @escaping (BluetoothError?) -> Void,
    refusal: @escaping (HCIStatus) -> BluetoothError
  ) {
    guard isReady else { return context.fail(done, GAPError.adapterOff.error("\(context.name) is not in use")) }
    let scheduler = context.scheduler
    send(command) { answer in
      let error: BluetoothError? =
        switch answer.status.code {
        case .success: nil
        case .unknownHCICommand:
          GAPError.notSupported.error("this adapter cannot receive trains with subevents, nor respond to them")
        case .unknownAdvertisingIdentifier:
          BledError.unknownHandle.error("the adapter is not synchronised with the train at present")
        default: refusal(answer.status)
        }
      scheduler.execute { done(error) }
    }
  }
}
