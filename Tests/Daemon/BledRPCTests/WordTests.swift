import Bluetooth
import FoundationEssentials
import Testing

@testable import BledRPC

@Suite("Words") struct WordTests {
  private func message(_ text: String) throws -> RPCMessage { try RPCMessage(line: Data(text.utf8)) }

  @Test("a client keeps a word that a newer daemon sends, and sends it on as it was")
  func unknown() throws {
    let answer = try message(
      #"{"jsonrpc":"2.0","id":1,"result":{"peripherals":[{"peripheral":"P","address":"A","addressType":"anonymous","#
        + #""adapter":"hci0","state":"parked","mine":false}]}}"#)
    let entry = try #require(answer.result(PeripheralList.Result.self).peripherals.first)
    #expect(entry.state.known == nil && entry.state.text == "parked" && "\(entry.state)" == "parked")
    #expect(entry.addressType == "anonymous" && entry.addressType != "public")
    let line = try RPCEncoding.success(id: .number(1), PeripheralList.Result(peripherals: [entry]))
    #expect(try message(String(decoding: line.dropLast(), as: UTF8.self)).line == answer.line)
  }

  @Test("a word that is known has a value, and compares with literals")
  func known() throws {
    let state: Word<PeripheralList.Entry.State> = "connected"
    #expect(state.known == .connected && state == Word(.connected) && state == "connected" && state != "connecting")
    #expect(Word<PHY>(.leCoded).text == "coded" && Word<PHY>("2M").known == .le2M)
    #expect(Word<DeviceAddress.Kind>("random").known == .random)
  }

  @Test("words are equal octet for octet")
  func octets() {
    let composed = Word<PairingCapability>("d\u{E9}j\u{E0}"), decomposed = Word<PairingCapability>("de\u{301}ja\u{300}")
    #expect(composed != decomposed && Set([composed, decomposed]).count == 2)
    #expect(DeviceAddress.Kind(word: "public\u{300}") == nil)
  }

  @Test("params refuse a word that is not known: the error names the member and the words that there are")
  func refused() throws {
    let call = try message(
      #"{"jsonrpc":"2.0","id":1,"method":"peripheral.connect","params":{"address":"A","addressType":"odd"}}"#)
    let error = #expect(throws: RPCError.self) { try call.params(PeripheralConnect.Params.self) }
    #expect(error?.code == RPCError.invalidParams)
    #expect(error?.message == #"params.addressType: "odd" is not one of "public", "random""#)
    let service = try message(
      #"{"jsonrpc":"2.0","id":1,"method":"service.add","params":{"service":{"uuid":"180D","characteristics":["#
        + #"{"uuid":"2A37","properties":["read","fly"]}]}}}"#)
    let place = #expect(throws: RPCError.self) { try service.params(ServiceAdd.Params.self) }
    #expect(
      place?.message.hasPrefix(#"params.service.characteristics[0].properties[1]: "fly" is not one of "broadcast", "#)
        == true)
  }

  @Test("an error of a domain that is not known counts as one of the daemon's")
  func domain() throws {
    let answer = try message(
      #"{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"m","data":{"domain":"sdp","code":3,"name":"n"}}}"#)
    guard case .failure(_, let error) = answer.kind else { return #expect(Bool(false)) }
    #expect(error.data?.domain == "sdp")
    #expect(error.bluetoothError == BluetoothError(domain: .bled, code: 3, name: "n", message: "m"))
  }
}
