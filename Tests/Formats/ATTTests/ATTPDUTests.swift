import ATT
import Bluetooth
import Testing

/// Every packet of Core 5.4, Vol 3, Part F, 3.4, as octets and as a value.
struct ATTPDUTests {
  static let long: BluetoothUUID = BluetoothUUID(high: 0x0011_2233_4455_6677, low: 0x8899_AABB_CCDD_EEFF)

  static let packets: [(octets: String, pdu: ATTPDU)] = [
    ("010a12340a", .errorResponse(request: .readRequest, handle: 0x3412, error: .attributeNotFound)),
    ("021700", .exchangeMTURequest(23)),
    ("030502", .exchangeMTUResponse(517)),
    ("040100ffff", .findInformationRequest(start: 1, end: 0xFFFF)),
    ("05010300022904000329", .findInformationResponse(uuidSize: 2, [3, 0, 2, 0x29, 4, 0, 3, 0x29])),
    (
      "05020300ffeeddccbbaa99887766554433221100",
      .findInformationResponse(uuidSize: 16, [3, 0] + Self.long.littleEndian128[...])
    ),
    ("060100ffff00280d18", .findByTypeValueRequest(start: 1, end: 0xFFFF, type: 0x2800, value: [0x0D, 0x18])),
    ("060100ffff0028", .findByTypeValueRequest(start: 1, end: 0xFFFF, type: 0x2800, value: [])),
    ("0710001700", .findByTypeValueResponse([0x10, 0, 0x17, 0])),
    ("0801000f000328", .readByTypeRequest(start: 1, end: 15, type: 0x2803)),
    (
      "0801000f00ffeeddccbbaa99887766554433221100", .readByTypeRequest(start: 1, end: 15, type: Self.long)
    ),
    ("09070200020300002a", .readByTypeResponse(size: 7, [2, 0, 2, 3, 0, 0, 0x2A])),
    ("0a0300", .readRequest(3)),
    ("0b", .readResponse([])),
    ("0b0102", .readResponse([1, 2])),
    ("0c03001600", .readBlobRequest(3, offset: 22)),
    ("0d0102", .readBlobResponse([1, 2])),
    ("0e03000700", .readMultipleRequest([3, 0, 7, 0])),
    ("0f010203", .readMultipleResponse([1, 2, 3])),
    ("100100ffff0028", .readByGroupTypeRequest(start: 1, end: 0xFFFF, type: 0x2800)),
    ("1106010004000118", .readByGroupTypeResponse(size: 6, [1, 0, 4, 0, 1, 0x18])),
    ("120300", .writeRequest(3, value: [])),
    ("12030001", .writeRequest(3, value: [1])),
    ("13", .writeResponse),
    ("160300120001", .prepareWriteRequest(3, offset: 18, value: [1])),
    ("170300120001", .prepareWriteResponse(3, offset: 18, value: [1])),
    ("1800", .executeWriteRequest(false)),
    ("1801", .executeWriteRequest(true)),
    ("19", .executeWriteResponse),
    ("1b030001", .handleValueNotification(3, value: [1])),
    ("1d030001", .handleValueIndication(3, value: [1])),
    ("1e", .handleValueConfirmation),
    ("2003000700", .readMultipleVariableRequest([3, 0, 7, 0])),
    ("210100ff0000", .readMultipleVariableResponse([1, 0, 0xFF, 0, 0])),
    ("230300010009", .multipleHandleValueNotification([3, 0, 1, 0, 9])),
    ("52030001", .writeCommand(3, value: [1])),
    (
      "d20300010203040506070809101112ff",
      .signedWriteCommand(3, value: [1], signature: [2, 3, 4, 5, 6, 7, 8, 9, 0x10, 0x11, 0x12, 0xFF])
    ),
  ]

  @Test func everyPacketIsEncoded() {
    for (octets, pdu) in Self.packets { #expect(Hex.encode(pdu.encoded) == octets) }
  }

  @Test func everyPacketIsDecoded() throws {
    for (octets, pdu) in Self.packets {
      let packet = try #require(Hex.decode(octets))
      #expect(try ATTPDU(decoding: packet) == pdu)
      #expect(pdu.opcode.rawValue == packet[0])
      // A slice that does not begin at index 0 must not matter.
      let shifted = [0xEE] + packet
      #expect(try ATTPDU(decoding: shifted.dropFirst()) == pdu)
    }
  }

  @Test(arguments: [
    "010a1234", "010a12340a00", "02", "0217", "02170000", "0401", "040100ffff00", "05", "0501", "0503000102",
    "050103000229aa", "060100ffff", "07", "071000", "0801000f00", "0801000f00032801", "09", "0907", "0901", "090702",
    "0a", "0a01", "0a010000", "0c0300", "0c030016", "0e0300", "0e030007", "10", "1103010004", "1106", "12", "1201",
    "1301", "16030000", "17030000", "18", "1802", "180000", "1900", "1b", "1b03", "1d03", "1e00", "200300", "23",
    "2303000200ff", "230300010009ff", "5203", "d203000102030405060708091011",
  ])
  func malformedPacketsAreRefused(_ octets: String) throws {
    let packet = try #require(Hex.decode(octets))
    #expect(throws: ATTDecodingError.malformed(ATTOpcode(rawValue: packet[0]))) { try ATTPDU(decoding: packet) }
  }

  @Test func emptyAndUnknownPacketsAreRefused() {
    #expect(throws: ATTDecodingError.empty) { try ATTPDU(decoding: []) }
    for raw: UInt8 in [0x00, 0x14, 0x1A, 0x22, 0x7F, 0xBF, 0xFF] {
      #expect(throws: ATTDecodingError.unknownOpcode(ATTOpcode(rawValue: raw))) { try ATTPDU(decoding: [raw, 1, 2]) }
    }
  }

  @Test func whatIsDecodedIsEncodedAgain() {
    // xorshift: the same packets in each run.
    var state: UInt64 = 0x9E37_79B9_7F4A_7C15
    func random() -> UInt64 {
      state ^= state << 13
      state ^= state >> 7
      state ^= state << 17
      return state
    }
    var readable = 0
    for _ in 0..<50_000 {
      var packet = (0..<(random() % 24)).map { _ in UInt8(truncatingIfNeeded: random()) }
      if !packet.isEmpty, random() % 4 != 0 { packet[0] &= 0x3F }
      guard let pdu = try? ATTPDU(decoding: packet) else { continue }
      readable += 1
      #expect(pdu.encoded == packet)
    }
    #expect(readable > 5000)
  }

  @Test func listsEndBeforeWhatIsNotWhole() {
    #expect(ElementList([1, 2, 3, 4, 5], size: 2).map { [UInt8]($0) } == [[1, 2], [3, 4]])
    #expect(ElementList([1, 2], size: 0).map { [UInt8]($0) } == [[1], [2]])
    #expect(HandleLengthValueList([1, 0, 1, 0, 9, 2, 0, 5, 0, 1]).map(\.handle) == [1])
    let variable = Array(LengthValueList([1, 0, 9, 3, 0, 1]))
    #expect(variable.map { [UInt8]($0.value) } == [[9], [1]])
    #expect(variable.map(\.isWhole) == [true, false])
  }

  @Test func errorsHaveNamesAndSentences() {
    let error = ATTErrorCode.insufficientEncryption.bluetoothError("reading handle 3")
    #expect(error.domain == .att && error.code == 0x0F && error.name == "insufficientEncryption")
    #expect(error.message.hasPrefix("reading handle 3: "))
    #expect(ATTErrorCode(rawValue: 0x80).name == "applicationError")
    #expect(ATTErrorCode(rawValue: 0x40).name == "reserved")
    let names = (0x01...0x13).map { ATTErrorCode(rawValue: $0).name }
    #expect(Set(names).count == names.count)
  }
}
