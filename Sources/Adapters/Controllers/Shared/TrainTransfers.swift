import Adapter
import Bluetooth
import HCI
import Radio

/// The controller, for the trains on links.
protocol TrainCommands: ControllerCommands {
  /// Sends a command about a train, and passes its answer on.
  func send(_ command: TrainCommand, _ done: @escaping (CommandSlot.Answer) -> Void)
  /// Keeps following a train that is followed already; with nil parameters, only if it was wanted before.
  func adopt(_ train: PeriodicTrain, _ parameters: SyncParameters?)
}

/// The transfers of periodic advertising trains over the controller's links (Core 5.4, Vol 6, Part B, 5.1.13).
///
/// | Link    | Input                                   | Then                                                     |
/// |---------|-----------------------------------------|----------------------------------------------------------|
/// | idle    | `receive`                               | the controller takes trains of it → waiting              |
/// | waiting | the controller refuses                  | the call fails → idle                                    |
/// | waiting | a train that is followed                | the call has it; the controller takes no more → idle     |
/// | waiting | a train that cannot be followed, `stop` | the call fails; the controller takes no more → idle      |
/// | waiting | the link ends                           | the call fails → idle                                    |
/// | idle    | a train that is followed                | withdrawn, unless it is wanted otherwise                 |
final class TrainTransfers {
  /// A call waiting for a train.
  private struct Receiver {
    let number: Int
    let parameters: SyncParameters
    let done: (Result<ReceivedTrain, BluetoothError>) -> Void
  }

  private static let feature = "periodic advertising sync transfer"

  private let radio: any TrainCommands
  private let context: AdapterContext
  private var receivers: [ConnectionHandle: Receiver] = [:]
  private var lastNumber = 0

  init(_ radio: any TrainCommands, in context: AdapterContext) {
    self.radio = radio
    self.context = context
  }

  // MARK: - Giving

  /// Transfers a train to the device of a link.
  /// - Parameter theirs: the features of its controller, as far as known.
  func transfer(
    _ train: TransferredTrain, serviceData: UInt16, over link: any ControllerLink, theirs: LEFeatures?,
    _ done: @escaping (BluetoothError?) -> Void
  ) {
    guard radio.isReady, !link.isOver else { return context.fail(done, Self.linkEnded) }
    guard radio.features.contains(.periodicTransferSender) else { return context.fail(done, lacking("send")) }
    let peer = link.peer
    let takesNone = GAPError.notSupported.error("the controller of \(peer) does not have \(Self.feature)")
    if let theirs, !theirs.contains(.periodicTransferRecipient) { return context.fail(done, takesNone) }
    let transfer = TrainTransfer(train: train, link: link.handle, serviceData: serviceData)
    let scheduler = context.scheduler
    let unknown = lacking("send")
    radio.send(.transfer(transfer)) { answer in
      let error: BluetoothError? =
        switch answer.status.code {
        case .success: nil
        case .unknownAdvertisingIdentifier:
          BledError.unknownHandle.error("the train is not on the air, or the adapter does not receive it at present")
        case .unsupportedRemoteFeature: takesNone
        case .unknownHCICommand: unknown
        case .unknownConnectionIdentifier: Self.linkEnded
        default: answer.status.error("the train was not transferred to \(peer)")
        }
      scheduler.execute { done(error) }
    }
  }

  // MARK: - Receiving

  /// Waits for a train of a link's device.
  func receive(
    _ parameters: SyncParameters, over link: any ControllerLink, theirs: LEFeatures?,
    _ done: @escaping (Result<ReceivedTrain, BluetoothError>) -> Void
  ) {
    guard radio.isReady, !link.isOver else { return context.fail(done, Self.linkEnded) }
    guard radio.features.contains(.periodicTransferRecipient) else { return context.fail(done, lacking("receive")) }
    if let theirs, !theirs.contains(.periodicTransferSender) {
      let error = GAPError.notSupported.error("the controller of \(link.peer) does not have \(Self.feature)")
      return context.fail(done, error)
    }
    guard receivers[link.handle] == nil else {
      return context.fail(done, BledError.alreadyInProgress.error("a train of \(link.peer) is waited for"))
    }
    lastNumber &+= 1
    let (number, handle) = (lastNumber, link.handle)
    receivers[handle] = Receiver(number: number, parameters: parameters, done: done)
    ask(handle, parameters) { [weak self] answer in
      guard let self, !answer.status.isSuccess, receivers[handle]?.number == number else { return }
      let refusal = answer.status.code == .unknownHCICommand ? lacking("receive") : nil
      settle(handle, .failure(refusal ?? answer.status.error("the controller receives no trains")))
    }
  }

  /// Stops waiting for a train of a link's device.
  func stop(_ link: any ControllerLink) {
    end(link.handle, .failure(GAPError.cancelled.error("no train is waited for any more")))
  }

  /// The device of a link transferred a train, which is followed.
  func received(_ train: ReceivedTrain, over handle: ConnectionHandle) {
    let parameters = receivers[handle]?.parameters
    radio.adopt(train.train, parameters)
    end(handle, .success(train))
  }

  /// The device of a link transferred a train that cannot be followed.
  func missed(_ status: HCIStatus, over handle: ConnectionHandle) {
    end(handle, .failure(status.error("the device transferred a train that cannot be followed")))
  }

  /// A link has ended.
  func ended(_ handle: ConnectionHandle) { settle(handle, .failure(Self.linkEnded)) }

  /// The controller no longer accepts trains of a link.
  private func end(_ handle: ConnectionHandle, _ result: Result<ReceivedTrain, BluetoothError>) {
    guard receivers[handle] != nil else { return }
    settle(handle, result)
    ask(handle, nil) { _ in }
  }

  private func settle(_ handle: ConnectionHandle, _ result: Result<ReceivedTrain, BluetoothError>) {
    guard let receiver = receivers.removeValue(forKey: handle) else { return }
    context.scheduler.execute { receiver.done(result) }
  }

  private func ask(
    _ handle: ConnectionHandle, _ parameters: SyncParameters?, _ done: @escaping (CommandSlot.Answer) -> Void
  ) {
    typealias Command = LESetPeriodicAdvertisingSyncTransferParameters
    let command = Command {
      $0.connectionHandle = handle
      guard let parameters else { return }
      $0.mode = Command.followed
      $0.timeout = TimeUnits.syncTimeout(parameters.timeout)
    }
    radio.ask(CommandPacket(command), done)
  }

  private func lacking(_ verb: String) -> BluetoothError {
    GAPError.notSupported.error("the controller of \(context.name) cannot \(verb) trains: it lacks \(Self.feature)")
  }

  private static var linkEnded: BluetoothError { GAPError.notConnected.error("the link has ended") }
}
