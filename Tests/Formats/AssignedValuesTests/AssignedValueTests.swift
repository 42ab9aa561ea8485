import AssignedValues
import Bluetooth
import Testing

@Suite struct AssignedValueTests {
  /// UUID, value in hex, and the text; nil for a value that does not fit.
  static let cases: [(BluetoothUUID, String, String?)] = [
    (0x2A00, "42656c74", "Belt"),
    (0x2A01, "4103", "Heart Rate Belt"),
    (0x2A01, "4203", "Heart Rate Sensor"),
    (0x2A01, "c0ff", "0xFFC0"),
    (0x2A04, "0600280000006400", "interval 7.50 to 50.00 ms, latency 0, timeout 1.00 s"),
    (0x2A05, "0a00ffff", "handles 10 to 65535"),
    (0x2A07, "f6", "-10 dBm"),
    (0x2A08, "ea070b15081e00", "2026-11-21 08:30:00"),
    (0x2A19, "5d", "93 %"),
    (0x2A19, "", nil),
    (0x2A1C, "006d0100ff", "36.5 °C"),
    (0x2A1C, "04420e00fe01", "36.50 °C, armpit"),
    (0x2A1C, "03d90300ffea070b15081e00", "98.5 °F, 2026-11-21 08:30:00"),
    (0x2A1C, "00ffff7f00", "no number °C"),
    (0x2A1C, "026d0100ff", nil),
    (0x2A23, "1122330000aabbcc", "ccbbaa-0000332211"),
    (0x2A29, "41636d6500", "Acme"),
    (0x2A35, "00780050005d00", "120/80 mmHg, mean 93"),
    (0x2A37, "0048", "72 bpm"),
    (0x2A37, "164852033f03", "72 bpm, contact, RR 0.830 0.812 s"),
    (0x2A37, "0c483c00", "72 bpm, no contact, 60 kJ"),
    (0x2A37, "014801", "328 bpm"),
    (0x2A37, "01", nil),
    (0x2A37, "0848", nil),
    (0x2A38, "01", "chest"),
    (0x2A38, "2a", "location 42"),
    (0x2A50, "014c0020020001", "vendor 004c (Apple), product 0220, version 1.0.0"),
    (0x2A50, "026d0420025634", "vendor usb:046d, product 0220, version 34.5.6"),
    (0x2A53, "078002a05f00e52e0000", "running, 2.50 m/s, 160 steps/min, stride 0.95 m, distance 1200.5 m"),
    (0x2A5B, "03b004000000322c010031", "wheel 1200 revolutions at 12.500 s, crank 300 revolutions at 12.250 s"),
    (0x2A5B, "01b004", nil),
    (0x2A6D, "c5770f00", "101370.1 Pa"),
    (0x2A6E, "3408", "21.00 °C"),
    (0x2A6E, "9cff", "-1.00 °C"),
    (0x2A6E, "0080", "not known"),
    (0x2A6F, "f411", "45.96 %"),
    (0x2902, "0300", "notifications, indications"),
    (0x2902, "0000", "off"),
    (0x2904, "0efe2f27010000", "sint16 × 10^-2 °C"),
    (0x2904, "0efe2f2701", nil),
    (0x2AFF, "00", nil),
  ]

  @Test(arguments: cases) func valuesReadLikeThis(uuid: BluetoothUUID, value: String, text: String?) throws {
    #expect(AssignedValue.text(for: uuid, value: try #require(Hex.decode(value))) == text)
  }

  @Test func everyAssignedValueSurvivesEveryLength() throws {
    for short in 0x2800...0x2CFF as ClosedRange<UInt16> {
      for count in 0..<20 {
        for octet in [0x00, 0x7F, 0xFF] as [UInt8] {
          _ = AssignedValue.text(for: BluetoothUUID(short), value: Array(repeating: octet, count: count))
        }
      }
    }
    #expect(AssignedValue.text(for: 0x2A37, value: Array(repeating: 0xFF, count: 19)) != nil)
  }

  @Test func medicalFloatsHaveTheirSpecialValues() {
    #expect(MedicalFloat(float: 0x007F_FFFF) == .notANumber)
    #expect(MedicalFloat(float: 0x0080_0000) == .notAtThisResolution)
    #expect(MedicalFloat(float: 0x007F_FFFE) == .positiveInfinity)
    #expect(MedicalFloat(float: 0x0080_0002) == .negativeInfinity)
    #expect(MedicalFloat(float: 0x0080_0001) == .reserved)
    #expect(MedicalFloat(sfloat: 0x07FF) == .notANumber)
    #expect(MedicalFloat(sfloat: 0x0802) == .negativeInfinity)
    #expect(MedicalFloat(sfloat: 0xF36D).value == 87.7)
    #expect(MedicalFloat(float: 0xFF00_016D).value == 36.5)
    #expect(MedicalFloat(float: 0xFEFF_FFFF).description == "-0.01")
  }

  @Test func textIsPrintableOrNothing() {
    #expect(AssignedValue.printableText(Array("Größe".utf8)) == "Größe")
    #expect(AssignedValue.printableText([0x45, 0x63, 0x68, 0x6F, 0]) == "Echo")
    // A number of two octets may be one of two letters.
    for octets: [UInt8] in [
      [], [0], [0x49, 0x00], [0x48, 0x69], [0x48, 0x69, 0x21, 0], [0x41, 0x0A], [0xFF], [0x41, 0, 0x41], [0xC2, 0x80],
    ] {
      #expect(AssignedValue.printableText(octets) == nil)
    }
  }

  @Test("The data of the Battery Service are a battery level; those of others are not known")
  func serviceData() {
    #expect(AssignedValue.text(forDataOf: 0x180F, [0x64]) == "100 %")
    #expect(AssignedValue.text(forDataOf: 0x180F, [0x64, 0x01]) == nil)
    #expect(AssignedValue.text(forDataOf: 0xFEAA, [0x64]) == nil)
  }
}
