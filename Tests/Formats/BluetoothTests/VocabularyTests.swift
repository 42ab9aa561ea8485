import Bluetooth
import Testing

@Suite struct VocabularyTests {
  @Test func uuidsOfOneValueAreEqualHoweverTheyWereWritten() throws {
    let long = try #require(BluetoothUUID("0000180d-0000-1000-8000-00805F9B34FB"))
    #expect(long == 0x180D)
    #expect("\(long)" == "180D")
    #expect(long.attOctets == [0x0D, 0x18])
    #expect(BluetoothUUID(littleEndian: long.littleEndian128) == long)
    #expect(BluetoothUUID("12345678")?.description == "12345678")
    for text in ["180D", "12345678", "6BA1B218-15A8-461F-9FA8-5DCAE273EAFD"] {
      #expect(BluetoothUUID("0x" + text)?.description == text)
      #expect(BluetoothUUID("0X" + text) == BluetoothUUID(text))
      #expect(BluetoothUUID("0x0x" + text) == nil)
    }
    for text in ["0x", "0x18", "0x180", "0x6BA1B21815A8461F9FA85DCAE273EAFD"] { #expect(BluetoothUUID(text) == nil) }
    #expect(BluetoothUUID(littleEndian: [1, 2, 3]) == nil)
    let own = try #require(BluetoothUUID("f0000000-1111-2222-3333-444455556666"))
    #expect(own.description == "F0000000-1111-2222-3333-444455556666")
    #expect(own.short32 == nil)
    #expect(own.attOctets.count == 16)
  }

  @Test func addressesAreReadAndWritten() throws {
    let address = try #require(DeviceAddress("c0:ff:EE:00:01:02", kind: .random))
    #expect("\(address)" == "C0:FF:EE:00:01:02")
    #expect(address.littleEndian == [0x02, 0x01, 0x00, 0xEE, 0xFF, 0xC0])
    #expect(DeviceAddress(littleEndian: address.littleEndian, kind: .random) == address)
    #expect(address.isStaticRandom)
    #expect(!address.isResolvablePrivate)
    #expect(DeviceAddress("40:00:00:00:00:00", kind: .random)?.isResolvablePrivate == true)
    for text in ["", "C0:FF:EE:00:01", "C0:FF:EE:00:01:02:03", "C0:FF:EE:00:01:0", "C0-FF-EE-00-01-02", "::::::"] {
      #expect(DeviceAddress(text, kind: .public) == nil, "\(text)")
    }
  }

  @Test func hexIsReadInEitherCaseAndNothingElse() {
    #expect(Hex.encode([0x00, 0xAB]) == "00ab")
    #expect(Hex.decode("00aB") == [0x00, 0xAB])
    #expect(Hex.decode("") == [])
    for text in ["0", "0g", " 00", "0x00", "é0"] { #expect(Hex.decode(text) == nil, "\(text)") }
  }

  @Test func instantsStayInTheirRange() {
    #expect(Instant.zero.advanced(by: .milliseconds(3)).nanoseconds == 3_000_000)
    #expect(Instant(nanoseconds: .max).advanced(by: .seconds(1)).nanoseconds == .max)
    #expect(Instant(nanoseconds: .min).advanced(by: .seconds(-1)).nanoseconds == .min)
    #expect(Instant(nanoseconds: .min).duration(to: Instant(nanoseconds: .max)) == .nanoseconds(Int64.max))
    #expect(Duration.seconds(Int64.max).wholeNanoseconds == .max)
    #expect(Duration.milliseconds(1500).inSeconds == 1.5)
  }

  @Test func errorsSayWhatTheyAre() {
    let error = GAPError.adapterOff.error("hci0 is off")
    #expect(error.name == "adapterOff")
    #expect("\(error)" == "hci0 is off (gap 0x6 adapterOff)")
    #expect(BledError.tooSlow.error("x").domain == .bled)
  }
}
