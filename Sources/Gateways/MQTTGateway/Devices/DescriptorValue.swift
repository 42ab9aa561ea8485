import BledConnection
import BledRPC
import Bluetooth
import ValueFormats

/// The value of a descriptor that names a characteristic or describes its value.
struct DescriptorValue: Hashable {
  let descriptor: BluetoothUUID
  let value: [UInt8]
}

extension DaemonSession {
  /// Reads the descriptors of a characteristic that name it or describe its value, one after the other.
  ///
  /// Of several formats each is for a part of the value: the owner has to describe the whole, so none is read.
  /// - Parameter completion: called once, with the ones that the device has and gives.
  func readDescriptions(
    of characteristic: SubscribedDevice.Characteristic, on peripheral: String,
    _ completion: @escaping ([DescriptorValue]) -> Void
  ) {
    call(
      GATTDiscoverDescriptors.self,
      GATTScope(
        peripheral: peripheral, attribute: .characteristic(characteristic.characteristic, of: characteristic.service),
        uuids: AttributeNaming.descriptors)
    ) { [weak self] result in
      guard let self, case .success(let found) = result else { return completion([]) }
      let single = found.descriptors.filter { one in found.descriptors.count { $0.uuid == one.uuid } == 1 }
      read(single[...], on: peripheral, [], completion)
    }
  }

  private func read(
    _ descriptors: ArraySlice<DescriptorDescription>, on peripheral: String, _ read: [DescriptorValue],
    _ completion: @escaping ([DescriptorValue]) -> Void
  ) {
    guard let next = descriptors.first else { return completion(read) }
    call(GATTRead.self, GATTRead.Params(peripheral: peripheral, attribute: .handle(next.handle))) {
      [weak self] result in
      guard let self else { return completion(read) }
      let new = (try? result.get()).map { DescriptorValue(descriptor: next.uuid, value: $0.value.octets) }
      self.read(descriptors.dropFirst(), on: peripheral, read + [new].compactMap(\.self), completion)
    }
  }
}
