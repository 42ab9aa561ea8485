import Adapter
import Bluetooth

/// Trains with subevents that are followed.
extension KernelAdapter {
  package func setSubevents(
    _ subevents: [UInt8], of train: PeriodicTrain, _ done: @escaping (BluetoothError?) -> Void
  ) { radio.activities.setSubevents(subevents, of: train, done) }

  package func respond(
    _ response: TrainResponse, to train: PeriodicTrain, _ done: @escaping (BluetoothError?) -> Void
  ) { radio.activities.respond(response, to: train, done) }
}
