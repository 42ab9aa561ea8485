import AssignedValues
import Bluetooth
import Testing

/// Values that are one number with a unit.
@Suite struct AssignedQuantityTests {
  private static let cases: [(BluetoothUUID, String, Double?, String)] = [
    (0x2A37, "0648", 72, "bpm"), (0x2A37, "06", nil, ""), (0x2A19, "64", 100, "%"), (0x2A6E, "3408", 21, "°C"),
    (0x2A6E, "0080", nil, ""), (0x2A6F, "ffff", nil, ""), (0x2A1C, "006d0100ff", 36.5, "°C"),
    (0x2A1C, "01d40300ff", 98, "°F"), (0x2A1C, "00ffff7f00", nil, ""), (0x2A07, "f4", -12, "dBm"),
    (0x2A6D, "d0730f00", 101_268.8, "Pa"), (0x2AFB, "102700", 100, "lx"), (0x2A00, "64", nil, ""),
    (BluetoothUUID(UInt32(0x1234_5678)), "64", nil, ""), (0x2A1C, "0001000005", 100_000, "°C"),
  ]

  @Test(arguments: cases) func quantities(uuid: BluetoothUUID, value: String, number: Double?, unit: String) throws {
    let quantity = AssignedQuantity(of: uuid, value: try #require(Hex.decode(value)))
    #expect(quantity?.number == number && (quantity?.unit ?? "") == unit)
    if let quantity, let lasting = AssignedQuantity.unit(of: uuid) { #expect(quantity.unit == lasting) }
  }

  @Test func everyLengthIsRead() {
    for uuid in [0x2A07, 0x2A19, 0x2A1C, 0x2A1E, 0x2A35, 0x2A36, 0x2A37, 0x2A6D, 0x2A6E, 0x2A6F, 0x2AFB] as [UInt16] {
      for length in 0..<16 {
        let quantity = AssignedQuantity(of: BluetoothUUID(uuid), value: Array(repeating: 0xFF, count: length))
        #expect(quantity?.number.isFinite ?? true)
      }
    }
  }
}
