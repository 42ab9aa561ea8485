import AssignedValues
import Bluetooth

/// The meaning of a characteristic's or descriptor's value.
public struct ValueMeaning: Hashable, Sendable {
  /// For people: "22.60 °C".
  public let text: String
  /// True if the text is a guess: the octets happen to be printable characters.
  public let isGuess: Bool
  /// Its number, or the first of them; finite.
  public let number: Double?
  /// The unit of the number; empty for none.
  public let unit: String?
  /// Its parts with names, where it has several.
  public let fields: [FormattedValue.Field]

  /// Reads a value: by the format, else by the assigned one, else as characters.
  /// - Parameter format: nil, or a format of the user or the device, which comes first if the value fits it.
  /// - Returns: nil if nothing is known about it.
  public init?(of uuid: BluetoothUUID, value: [UInt8], format: ValueFormat? = nil) {
    if let read = format?.read(value) {
      (text, isGuess, fields) = (read.text, false, read.fields.filter { $0.name != nil })
      (number, unit) = (read.quantity?.number, read.quantity?.unit)
      return
    }
    let quantity = AssignedQuantity(of: uuid, value: value)
    (number, unit, fields) = (quantity?.number, quantity?.unit, [])
    if let assigned = AssignedValue.text(for: uuid, value: value) {
      (text, isGuess) = (assigned, false)
    } else if let printable = AssignedValue.printableText(value) {
      (text, isGuess) = (printable, true)
    } else {
      return nil
    }
  }
}
