import AssignedValues
import BledRPC
import Bluetooth

/// The message of a value that a device has sent, or that was read from it.
struct ValuePayload {
  let address: DeviceAddress
  let peripheral: String
  /// The name that the configuration gives to the device.
  let name: String?
  let service: BluetoothUUID?
  let characteristic: BluetoothUUID
  let value: [UInt8]
  let gateway: String
  let sequence: UInt64
  /// In seconds since the epoch.
  let time: Double

  /// The octets.
  /// - Throws: for numbers that JSON does not have.
  func octets() throws -> [UInt8] {
    var writer = JSONWriter()
    try writer.object { writer in
      writer.member("id", "\(address)")
      if let name { writer.member("name", name) }
      if let service { writer.member("service", "\(service)") }
      writer.member("characteristic", "\(characteristic)")
      writer.name("value")
      writer.value(HexBytes(value))
      if let text = AssignedValue.text(for: characteristic, value: value) ?? AssignedValue.printableText(value) {
        writer.member("text", text)
      }
      writer.member("bled_id", peripheral)
      writer.member("gateway", gateway)
      writer.member("seq", sequence)
      try writer.time(time)
    }
    return writer.codes
  }
}
