import Bluetooth
import NordicDFU
import Testing

/// The octets of requests and answers.
@Suite struct DFURequestTests {
  @Test(
    "requests of the control point",
    arguments: [
      (DFURequest.create(.data, length: 4096), "010200100000"), (.setReceipts(300), "022c01"), (.checksum, "03"),
      (.execute, "04"), (.select(.command), "0601"),
    ])
  func requests(request: DFURequest, hex: String) throws {
    let octets = try #require(Hex.decode(hex))
    #expect(request.encoded == octets && DFURequest(octets) == request)
    #expect(DFURequest(octets + [0]) == nil && DFURequest(octets.dropLast()) == nil)
  }

  @Test("octets that are no request", arguments: ["", "05", "0603", "010300100000", "0c"])
  func noRequests(hex: String) throws { #expect(DFURequest(try #require(Hex.decode(hex))) == nil) }

  @Test(
    "answers",
    arguments: [
      (DFUResponse(to: 4), "600401"), (DFUResponse(to: 1, refusal: DFURefusal(code: 8)), "600108"),
      (DFUResponse(to: 4, refusal: DFURefusal(code: 11, extended: 5)), "60040b05"),
      (DFUResponse(to: 3, receipt: .init(offset: 0x102, checksum: 0xDEAD_BEEF)), "60030102010000efbeadde"),
      (
        DFUResponse(to: 6, receipt: .init(offset: 0, checksum: 0), maximum: 512), "600601000200000000000000000000"
      ),
    ])
  func answers(response: DFUResponse, hex: String) throws {
    let octets = try #require(Hex.decode(hex))
    #expect(response.encoded == octets && DFUResponse(octets) == response)
  }

  @Test("octets that are no answer", arguments: ["", "6004", "200101", "60030102010000efbead", "6006010002"])
  func noAnswers(hex: String) throws { #expect(DFUResponse(try #require(Hex.decode(hex))) == nil) }

  @Test("refusals in words")
  func refusals() {
    let hardware = DFURefusal(code: 11, extended: 6)
    #expect(hardware.description == "the firmware is for another hardware version (extended error 6)")
    #expect(DFURefusal(code: 8).description == "the boot loader's state does not allow it (error 8)")
    #expect(DFURefusal(code: 99).description == "error 99")
    #expect(DFURefusal(code: 11, extended: 99).description == "extended error 99")
  }

  @Test("requests for the boot loader, and their results")
  func buttonless() {
    #expect(ButtonlessRequest.enter.encoded == [1] && ButtonlessRequest([1]) == .enter)
    #expect(ButtonlessRequest.setName("Dfu1").encoded == [2, 4, 0x44, 0x66, 0x75, 0x31])
    #expect(ButtonlessRequest([2, 1, 0x41]) == .setName("A"))
    for octets in [[], [1, 0], [2], [2, 0], [2, 2, 0x41], [2, 1, 0xFF], [3]] as [[UInt8]] {
      #expect(ButtonlessRequest(octets) == nil)
    }
    #expect(ButtonlessRequest.enter.result([0x20, 1, 1]) == .success)
    #expect(ButtonlessRequest.enter.result([0x20, 2, 1]) == nil && ButtonlessRequest.enter.result([0x20, 1]) == nil)
    #expect(ButtonlessResult.notBonded.description == "there is no bond: pair first (7)")
    #expect(ButtonlessRequest.enter.response(.busy) == [0x20, 1, 6])
  }

  @Test("the boot loader has the next address: the last octet turns around")
  func address() {
    let application = DeviceAddress(value: 0xC0DE_0000_00FF, kind: .random)
    #expect(DFUService.bootLoaderAddress(of: application) == DeviceAddress(value: 0xC0DE_0000_0000, kind: .random))
    #expect(DFUService.controlPoint == BluetoothUUID("8EC90001-F315-4F60-9FB8-838830DAEA50"))
  }
}
