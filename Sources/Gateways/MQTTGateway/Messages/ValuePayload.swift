import BledRPC
import Bluetooth
import ValueFormats

/// The message of a value that a device has sent, or that was read from it.
struct ValuePayload {
  let address: DeviceAddress
  let peripheral: String
  /// The name that the configuration gives to the device.
  let name: String?
  let service: BluetoothUUID?
  let characteristic: BluetoothUUID
  let handle: UInt16
  /// The name and the format of the characteristic: the owner's, else the device's.
  let naming: AttributeNaming
  let value: [UInt8]
  let gateway: String
  let sequence: UInt64
  /// In seconds since the epoch.
  let time: Double

  /// The name of the characteristic beside the assigned one.
  var title: String? { naming.name(of: characteristic, in: service, handle: handle) }

  /// The meaning of the value; nil if unknown.
  var meaning: ValueMeaning? {
    let format = naming.format(of: characteristic, in: service, handle: handle)
    return ValueMeaning(of: characteristic, value: value, format: format)
  }

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
      if let title { writer.member("characteristic_name", title) }
      if let meaning {
        writer.member("text", meaning.text)
        if let number = meaning.number {
          writer.name("number")
          try writer.value(number)
        }
        if let unit = meaning.unit, !unit.isEmpty { writer.member("unit", unit) }
        if !meaning.fields.isEmpty { try Self.write(meaning.fields, &writer) }
      }
      writer.member("bled_id", peripheral)
      writer.member("gateway", gateway)
      writer.member("seq", sequence)
      try writer.time(time)
    }
    return writer.codes
  }

  /// Writes the parts of a value by their names.
  private static func write(_ fields: [FormattedValue.Field], _ writer: inout JSONWriter) throws {
    writer.name("fields")
    try writer.object { writer in
      for field in fields {
        writer.name(field.name ?? "")
        switch field.content {
        case .number(let number): try writer.value(number)
        case .flag(let flag): writer.value(flag)
        case .words(let words):
          writer.array { writer in
            for word in words {
              writer.separate()
              writer.value(word)
            }
          }
        case .text(let text): writer.value(text)
        }
      }
    }
  }
}
