import BledClient
import ValueFormats

/// A value of an attribute with its meaning.
struct ValueDescription: Sendable, Encodable {
  /// Seconds since the epoch.
  var time: Double
  var hex: HexBytes
  /// The meaning in words; nil if unknown.
  var text: String?
  /// The number that a plot shows.
  var number: Double?
  var unit: String?

  init(_ octets: [UInt8], of uuid: BluetoothUUID, _ format: ValueFormat?, at time: Double) {
    self.time = time
    hex = HexBytes(octets)
    let meaning = ValueMeaning(of: uuid, value: octets, format: format)
    (text, number, unit) = (meaning?.text, meaning?.number, meaning?.unit)
  }
}
