import AssignedValues
import BledClient

/// A value of an attribute with its meaning.
struct ValueDescription: Sendable, Encodable {
  /// Seconds since the epoch.
  var time: Double
  var hex: HexBytes
  /// The meaning in words; nil: it has no known one.
  var text: String?
  /// The number that a plot shows.
  var number: Double?
  var unit: String?

  init(_ octets: [UInt8], of uuid: BluetoothUUID, at time: Double) {
    self.time = time
    hex = HexBytes(octets)
    text = AssignedValue.text(for: uuid, value: octets) ?? AssignedValue.printableText(octets)
    let quantity = AssignedQuantity(of: uuid, value: octets)
    // JSON has no other numbers.
    number = quantity.flatMap { $0.number.isFinite ? $0.number : nil }
    unit = quantity?.unit
  }
}
