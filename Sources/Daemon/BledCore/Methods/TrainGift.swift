import Adapter
import BledRPC
import Bluetooth

/// A train given by a session to a device: one sent or followed on the link's adapter.
struct TrainGift {
  let train: TransferredTrain
  let serviceData: UInt16

  /// - Throws: `BledError.unknownHandle` if the session has no such train there.
  init(
    _ params: PeriodicTransfer.Params, of session: Session, on slot: AdapterSlot, _ periodic: PeriodicBroker,
    _ advertising: AdvertisingBroker
  ) throws {
    guard let serviceData = UInt16(exactly: params.serviceData ?? 0) else {
      throw BledError.invalidParameter.error("\"serviceData\" must be 0 to 65535")
    }
    switch (params.advertising, params.train) {
    case (let number?, nil): train = .own(try advertising.train(number, of: session, on: slot))
    case (nil, let named?): train = .followed(try periodic.train(named, of: session, on: slot))
    default: throw BledError.invalidParameter.error("either \"advertising\" or \"train\" must be given")
    }
    self.serviceData = serviceData
  }
}
