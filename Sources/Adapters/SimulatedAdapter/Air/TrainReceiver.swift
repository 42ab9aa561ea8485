import Adapter
import Bluetooth

/// A controller that transfers trains over its links, and receives them.
protocol TrainHolder: AnyObject {
  /// True if it supports that.
  var transfersTrains: Bool { get }
  /// The sender of a train of this controller, or of a followed train; nil if there is none at present.
  func advertiser(of train: TransferredTrain) -> Advertiser?
  /// Follows a train from now on; nil if it is not on the air.
  func adopt(_ advertiser: Advertiser, _ parameters: SyncParameters) -> ReceivedTrain?
}

/// One side of a link, waiting for trains of the other side (Core 5.4, Vol 6, Part B, 5.1.13).
struct TrainReceiver {
  typealias Done = (Result<ReceivedTrain, BluetoothError>) -> Void

  private struct Waiting {
    let parameters: SyncParameters
    let done: Done
  }

  weak var holder: (any TrainHolder)?
  private var waiting: Waiting?

  /// True if it supports transfers of trains.
  var isAble: Bool { holder?.transfersTrains == true }

  /// Waits for a train.
  /// - Returns: the reason for a refusal; nil without one.
  mutating func wait(_ parameters: SyncParameters, _ done: @escaping Done) -> BluetoothError? {
    guard waiting == nil else { return BledError.alreadyInProgress.error("a train is waited for") }
    waiting = Waiting(parameters: parameters, done: done)
    return nil
  }

  /// The other side transferred a train; without a wait it is ignored.
  /// - Returns: the end of the wait, to be called later.
  mutating func receive(_ advertiser: Advertiser, serviceData: UInt16) -> (() -> Void)? {
    guard let former = waiting else { return nil }
    waiting = nil
    guard var received = holder?.adopt(advertiser, former.parameters) else {
      return { former.done(.failure(HCIReason.connectionFailedToBeEstablished.error)) }
    }
    received.serviceData = serviceData
    return { [received] in former.done(.success(received)) }
  }

  /// Stops waiting for a train.
  /// - Returns: the end of the wait, to be called later.
  mutating func end(_ error: BluetoothError) -> (() -> Void)? {
    guard let former = waiting else { return nil }
    waiting = nil
    return { former.done(.failure(error)) }
  }
}
