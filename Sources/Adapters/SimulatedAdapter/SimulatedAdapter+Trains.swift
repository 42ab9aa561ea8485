import Adapter
import Bluetooth

/// Trains with subevents, and transfers of trains over links.
extension SimulatedAdapter {
  /// Makes an advertisement's train send data in a subevent, once, in its next event.
  public func setSubevent(
    _ data: SubeventData, of set: AdvertisingSetID, _ done: @escaping (BluetoothError?) -> Void
  ) {
    guard let subevents = advertisements.advertiser(of: set)?.subevents else {
      return answer(done, BledError.unknownHandle.error("the train is not on the air"))
    }
    subevents.send(data, done)
  }

  /// Chooses the subevents of a train to receive.
  public func setSubevents(
    _ subevents: [UInt8], of train: PeriodicTrain, _ done: @escaping (BluetoothError?) -> Void
  ) { answer(done, trains.choose(subevents, of: train)) }

  /// Sends a response to a packet of a train, once.
  public func respond(
    _ response: TrainResponse, to train: PeriodicTrain, _ done: @escaping (BluetoothError?) -> Void
  ) { answer(done, trains.respond(response, to: train, rssi: end.signal.next())) }

  private func answer(_ done: @escaping (BluetoothError?) -> Void, _ error: BluetoothError?) {
    scheduler.schedule(after: .zero) { done(error) }
  }
}

extension SimulatedAdapter: TrainHolder {
  var transfersTrains: Bool { information.canSynchronise }

  func advertiser(of train: TransferredTrain) -> Advertiser? {
    switch train {
    case .own(let set): advertisements.advertiser(of: set).flatMap { $0.train == nil ? nil : $0 }
    case .followed(let train): trains.advertiser(of: train)
    }
  }

  func adopt(_ advertiser: Advertiser, _ parameters: SyncParameters) -> ReceivedTrain? {
    trains.adopt(advertiser, parameters)
  }
}
