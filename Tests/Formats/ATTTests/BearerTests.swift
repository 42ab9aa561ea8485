import ATT
import Bluetooth
import Testing

/// The rules of Core 5.4, Vol 3, Part F, 3.3.2, 3.3.3 and 3.4.2.
struct BearerTests {
  private func octets(_ text: String) throws -> [UInt8] { try #require(Hex.decode(text)) }
  private func second(_ seconds: Int64) -> Instant { Instant(nanoseconds: seconds * 1_000_000_000) }

  @Test func mtuIsTheSmallerOfBoth() throws {
    var bearer = Bearer(maximumMTU: 247)
    #expect(bearer.mtu == 23)
    #expect(bearer.receive(try octets("020502")) == .answer(try octets("03f700")))
    #expect(bearer.mtu == 247)
    var client = Bearer(maximumMTU: 517)
    #expect(client.send(request: try octets("020502"), now: .zero) == true)
    #expect(client.receive(try octets("036400")) == .response(.exchangeMTUResponse(100)))
    #expect(client.mtu == 100)
  }

  @Test func mtuIsNeverBelow23() throws {
    var bearer = Bearer(maximumMTU: 5)
    #expect(bearer.receive(try octets("020100")) == .answer(try octets("031700")))
    #expect(bearer.mtu == 23)
    var client = Bearer(maximumMTU: 100_000)
    #expect(client.maximumMTU == 517)
    #expect(client.send(request: try octets("020502"), now: .zero) == true)
    #expect(client.receive(try octets("030000")) == .response(.exchangeMTUResponse(0)))
    #expect(client.mtu == 23)
  }

  @Test func aRequestBeyondTheMTUIsRefused() throws {
    var bearer = Bearer(maximumMTU: 247)
    let request = try octets("160d000000" + String(repeating: "00", count: 19))
    #expect(bearer.receive(request) == .answer(try octets("0116000004")))
    #expect(bearer.receive(try octets("02f700")) == .answer(try octets("03f700")))
    guard case .request(.prepareWriteRequest(13, offset: 0, let value)) = bearer.receive(request) else {
      Issue.record("refused")
      return
    }
    #expect(value.count == 19)
  }

  @Test func oneRequestAtATime() throws {
    var bearer = Bearer(maximumMTU: 23)
    #expect(bearer.send(request: try octets("0a0100"), now: .zero) == true)
    #expect(!bearer.canRequest)
    #expect(bearer.send(request: try octets("0a0200"), now: .zero) == false)
    #expect(bearer.receive(try octets("0b07")) == .response(.readResponse([7])))
    #expect(bearer.send(request: try octets("0a0200"), now: .zero) == true)
    let refused = ATTPDU.errorResponse(request: .readRequest, handle: 2, error: .invalidHandle)
    #expect(bearer.receive(refused.encoded) == .response(refused))
    #expect(bearer.canRequest && bearer.deadline == nil)
  }

  @Test func requestTimesOutAfter30Seconds() throws {
    var bearer = Bearer(maximumMTU: 23)
    #expect(bearer.send(request: try octets("0a0100"), now: second(5)) == true)
    #expect(bearer.deadline == second(35))
    #expect(bearer.timePassed(now: second(34)) == nil)
    #expect(bearer.timePassed(now: second(35)) == .timeout(.readRequest))
    #expect(bearer.timePassed(now: second(36)) == nil)
    #expect(bearer.error == .timeout(.readRequest))
    #expect(bearer.receive(try octets("0b07")) == .ignored)
    #expect(bearer.send(request: try octets("0a0100"), now: second(40)) == false)
    #expect(bearer.sendIndication(now: second(40)) == false)
  }

  @Test func indicationTimesOutAfter30Seconds() throws {
    var bearer = Bearer(maximumMTU: 23)
    #expect(bearer.sendIndication(now: .zero) == true)
    #expect(bearer.sendIndication(now: .zero) == false)
    #expect(bearer.send(request: try octets("0a0100"), now: second(10)) == true)
    #expect(bearer.deadline == second(30))
    #expect(bearer.timePassed(now: second(30)) == .timeout(.handleValueIndication))
  }

  @Test func confirmationFreesTheNextIndication() throws {
    var bearer = Bearer(maximumMTU: 23)
    #expect(bearer.receive(try octets("1e")) == .stray(.handleValueConfirmation))
    #expect(bearer.sendIndication(now: .zero) == true)
    #expect(bearer.receive(try octets("1e")) == .confirmation)
    #expect(bearer.canIndicate)
  }

  @Test(arguments: ["0d07", "13", "010c010001", "03f700", "0907020002"])
  func answerToAnotherRequestIsStray(_ answer: String) throws {
    for var bearer in [Bearer(maximumMTU: 247), Bearer(enhancedMTU: 247)] {
      let mtu = bearer.mtu
      #expect(bearer.send(request: try octets("0a0100"), now: .zero) == true)
      let packet = try octets(answer)
      #expect(bearer.receive(packet) == .stray(ATTOpcode(rawValue: packet[0])))
      #expect(bearer.error == nil && bearer.mtu == mtu && bearer.deadline == second(30))
      #expect(bearer.receive(try octets("0b07")) == .response(.readResponse([7])))
    }
  }

  /// An Error Response that cannot be read is still an answer to the pending request.
  @Test func unreadableErrorIsAnAnswer() throws {
    var bearer = Bearer(maximumMTU: 23)
    #expect(bearer.send(request: try octets("0a0100"), now: .zero) == true)
    #expect(bearer.receive(try octets("0107")) == .malformedResponse(.malformed(.errorResponse)))
  }

  @Test func answerWithoutRequestIsStray() throws {
    var bearer = Bearer(maximumMTU: 23)
    #expect(bearer.receive(try octets("0b07")) == .stray(.readResponse))
    #expect(bearer.receive(try octets("1302")) == .stray(.writeResponse))
    #expect(bearer.receive(try octets("010a010001")) == .stray(.errorResponse))
    #expect(bearer.error == nil && bearer.deadline == nil && bearer.canRequest)
  }

  /// The missing answer ends the bearer, regardless of other answers.
  @Test func strayAnswersDoNotProlong() throws {
    var bearer = Bearer(maximumMTU: 23)
    #expect(bearer.send(request: try octets("0a0100"), now: .zero) == true)
    #expect(bearer.sendIndication(now: second(1)) == true)
    for _ in 0..<100 { #expect(bearer.receive(try octets("13")) == .stray(.writeResponse)) }
    #expect(bearer.timePassed(now: second(30)) == .timeout(.readRequest))
    #expect(bearer.receive(try octets("1e")) == .ignored)
  }

  /// Packets of the longer MTU may be queued, or on their way.
  @Test func mtuNeverFalls() throws {
    var bearer = Bearer(maximumMTU: 247)
    #expect(bearer.receive(try octets("026400")) == .answer(try octets("03f700")))
    #expect(bearer.receive(try octets("021700")) == .answer(try octets("03f700")))
    #expect(bearer.mtu == 100)
    #expect(bearer.send(request: try octets("02f700"), now: .zero) == true)
    #expect(bearer.receive(try octets("034000")) == .response(.exchangeMTUResponse(64)))
    #expect(bearer.mtu == 100)
    #expect(bearer.receive(try octets("02c800")) == .answer(try octets("03f700")))
    #expect(bearer.mtu == 200)
  }

  @Test func malformedAnswerEndsOnlyTheRequest() throws {
    var bearer = Bearer(maximumMTU: 23)
    #expect(bearer.send(request: try octets("0801000f000328"), now: .zero) == true)
    #expect(bearer.receive(try octets("0907020002")) == .malformedResponse(.malformed(.readByTypeResponse)))
    #expect(bearer.canRequest)
  }

  @Test func peerMayHaveOneRequestPending() throws {
    var bearer = Bearer(maximumMTU: 23)
    #expect(bearer.receive(try octets("0a0100")) == .request(.readRequest(1)))
    #expect(bearer.receive(try octets("52010007")) == .command(.writeCommand(1, value: [7])))
    bearer.answered()
    #expect(bearer.receive(try octets("0a0100")) == .request(.readRequest(1)))
    #expect(bearer.receive(try octets("0a0200")) == .failed(.requestWhilePending(.readRequest)))
  }

  @Test func unreadableRequestsAreAnsweredAndUnreadableCommandsIgnored() throws {
    var bearer = Bearer(maximumMTU: 23)
    #expect(bearer.receive(try octets("0a01")) == .answer(try octets("010a000004")))
    #expect(bearer.receive(try octets("bf00")) == .answer(try octets("01bf000006")))
    #expect(bearer.receive(try octets("ff00")) == .ignored)
    #expect(bearer.receive(try octets("5201")) == .ignored)
    #expect(bearer.receive(try octets("1b01")) == .ignored)
    #expect(bearer.receive([]) == .ignored)
  }

  @Test func indicationsComeWithTheirConfirmation() throws {
    var bearer = Bearer(maximumMTU: 23)
    #expect(
      bearer.receive(try octets("1d030001"))
        == .indication(.handleValueIndication(3, value: [1]), confirmation: [0x1E]))
    #expect(bearer.receive(try octets("1b030001")) == .notification(.handleValueNotification(3, value: [1])))
  }

  @Test func firstReasonOfTheEndStays() {
    var bearer = Bearer(maximumMTU: 23)
    let reason = BluetoothError(domain: .hci, code: 0x13, name: "remoteUserTerminatedConnection", message: "gone")
    bearer.end(.linkEnded(reason))
    bearer.end(.timeout(.readRequest))
    #expect(bearer.error == .linkEnded(reason))
    #expect(bearer.error?.bluetoothError == reason)
    #expect(!bearer.canRequest && !bearer.canIndicate && bearer.deadline == nil)
  }
}
