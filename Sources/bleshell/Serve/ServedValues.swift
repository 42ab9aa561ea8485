import BledClient
import BledRPC
import Bluetooth

/// The values of a service file, by the handles that the daemon assigned.
struct ServedValues {
  /// A characteristic whose value is stored here.
  struct Value {
    let uuid: BluetoothUUID
    let tells: Bool
    let changes: ServiceFile.Changes?
    var octets: [UInt8]
  }

  private(set) var values: [UInt16: Value] = [:]

  /// Adds the characteristics of a service as it was published.
  mutating func add(_ service: ServiceFile.Service, as published: ServiceDescription) {
    for (characteristic, description) in zip(service.characteristics, published.characteristics ?? []) {
      let tells = characteristic.properties.contains("notify") || characteristic.properties.contains("indicate")
      values[description.handle] = Value(
        uuid: characteristic.uuid, tells: tells, changes: characteristic.changes, octets: characteristic.octets)
    }
  }

  mutating func set(_ handle: UInt16, _ octets: [UInt8]) { values[handle]?.octets = octets }

  /// Stores what a device wrote, all of it or nothing.
  /// - Throws: an `ATTRefusal` as an error if the write is not valid.
  mutating func write(_ writes: [ServerWrite.Write]) throws(BluetoothError) {
    var changed = values
    for write in writes {
      guard let old = changed[write.handle]?.octets else {
        throw ATTRefusal.writeNotPermitted.error("there is no value \(handleText(write.handle)) to write")
      }
      guard write.offset >= 0, write.offset <= old.count else {
        throw ATTRefusal.invalidOffset.error("the value has only \(old.count) octets")
      }
      let octets = old[..<write.offset] + write.value.octets
      guard octets.count <= 512 else {
        throw ATTRefusal.invalidAttributeValueLength.error("a value has at most 512 octets")
      }
      changed[write.handle]?.octets = Array(octets)
    }
    values = changed
  }
}
