import ATT
import Bluetooth
import GATT
import Testing

/// One procedure at a time, security, time and the end.
struct ClientProcedureTests {
  @Test func oneProcedureRunsAtATime() throws {
    var client = LinkScript()
    client.start(.read(1), id: 1, "0a0100")
    client.start(.read(2), id: 2, nil)
    #expect(client.takeEvents() == ["finished 2 busy"])
    client.start(.writeWithoutResponse(3, [9]), id: 3, "52030009")
    #expect(client.takeEvents() == ["finished 3 \(GATTResult.done)"], "commands need no turn")
    try client.exchange("0b01", nil)
    client.start(.read(2), id: 4, "0a0200")
    try client.exchange("010a020002", nil)
    client.start(.write(3, [9]), id: 5, "12030009")
    try client.exchange("13", nil)
    #expect(
      client.takeEvents() == [
        "finished 1 \(GATTResult.value([1]))", "finished 4 \(GATTError.att(.readNotPermitted, handle: 2))",
        "finished 5 \(GATTResult.done)",
      ])
  }

  @Test func securityIsAskedForOnce() throws {
    var client = LinkScript()
    client.connection.asksForSecurity = true
    client.start(.read(3), "0a0300")
    try client.exchange("010a030005", nil)
    #expect(client.takeEvents() == ["security 1 insufficientAuthentication"])
    client.start(.read(4), id: 2, nil)
    #expect(client.takeEvents() == ["finished 2 busy"], "the procedure that waits for security still runs")
    client.resume(id: 2, isSecured: true)
    client.expect(nil)
    client.resume(isSecured: true)
    client.expect("0a0300")
    try client.exchange("010a03000f", nil)
    #expect(client.takeEvents() == ["finished 1 \(GATTError.att(.insufficientEncryption, handle: 3))"])
    client.start(.read(4), id: 2, "0a0400")
    try client.exchange("010a04000c", nil)
    #expect(client.takeEvents() == ["security 2 encryptionKeySizeTooShort"])
    client.resume(id: 2, isSecured: false)
    #expect(client.takeEvents() == ["finished 2 \(GATTError.att(.encryptionKeySizeTooShort, handle: 4))"])
    client.resume(id: 2, isSecured: true)
    client.expect(nil)
  }

  @Test func securityInTheMiddleOfALongWrite() throws {
    var client = LinkScript()
    client.connection.asksForSecurity = true
    client.start(.writeLong(3, [1]), "160300000001")
    try client.exchange("0116030005", nil)
    client.resume(isSecured: false)
    client.expect("1800")
    try client.exchange("19", nil)
    #expect(client.takeEvents().last == "finished 1 \(GATTError.att(.insufficientAuthentication, handle: 3))")
  }

  @Test func everythingFailsOnceAfter30Seconds() throws {
    var client = LinkScript()
    client.start(.read(1), id: 1, "0a0100")
    #expect(client.connection.deadline == Instant.zero.advanced(by: .seconds(30)))
    client.pass(seconds: 30)
    let timeout = GATTError.bearer(.timeout(.readRequest))
    #expect(client.takeEvents() == ["failed", "finished 1 \(timeout)"])
    #expect(client.connection.deadline == nil)
    client.pass(seconds: 30)
    client.endLink()
    try client.exchange("0b01", nil)
    #expect(client.takeEvents() == [])
    client.start(.read(1), id: 3, nil)
    client.start(.writeWithoutResponse(1, [1]), id: 4, nil)
    #expect(client.takeEvents() == ["finished 3 \(timeout)", "finished 4 \(timeout)"])
  }

  @Test func everythingFailsOnceWithTheLink() throws {
    var client = LinkScript()
    client.connection.asksForSecurity = true
    client.start(.read(1), id: 1, "0a0100")
    try client.exchange("010a010005", nil)
    _ = client.takeEvents()
    client.endLink()
    let events = client.takeEvents()
    #expect(events.count == 1 && events[0].hasPrefix("finished 1 bearer("))
    client.resume(isSecured: true)
    client.expect(nil)
    #expect(client.takeEvents() == [])
  }

  @Test(arguments: ["13", "0d01", "010c010001", "030500"])
  func answerToAnotherRequestChangesNothing(_ answer: String) throws {
    var client = LinkScript()
    client.start(.read(1), id: 1, "0a0100")
    let deadline = client.connection.deadline
    try client.exchange(answer, nil)
    #expect(client.takeEvents() == ["stray 0 0x\(answer.prefix(2))"])
    #expect(client.connection.isOpen && client.connection.mtu == 23 && client.connection.deadline == deadline)
    try client.exchange("0b07", nil)
    #expect(client.takeEvents() == ["finished 1 \(GATTResult.value([7]))"])
  }

  @Test func answerWithoutARequestChangesNothing() throws {
    var client = LinkScript()
    for answer in ["0b01", "1e", "0102000006", "0b", "1306"] { try client.exchange(answer, nil) }
    #expect(client.takeEvents() == ["stray 0 0x0b", "stray 0 0x1e", "stray 0 0x01", "stray 0 0x0b", "stray 0 0x13"])
    client.start(.read(1), id: 1, "0a0100")
  }

  @Test func mtuIsAnsweredTwice() throws {
    var client = LinkScript(maximumMTU: 247)
    client.start(.exchangeMTU, "02f700")
    try client.exchange("03f700", nil)
    client.start(.read(1), id: 2, "0a0100")
    try client.exchange("031700", nil)
    try client.exchange("0b07", nil)
    #expect(
      client.takeEvents() == [
        "finished 1 \(GATTResult.mtu(247))", "mtu 247", "stray 0 0x03", "finished 2 \(GATTResult.value([7]))",
      ])
    #expect(client.connection.mtu == 247)
  }

  @Test func errorsAreTypedForTheSocket() {
    #expect(GATTError.att(.readNotPermitted, handle: 3).bluetoothError.domain == .att)
    #expect(GATTError.bearer(.timeout(.readRequest)).bluetoothError.name == "timeout")
    #expect(GATTError.busy.bluetoothError.name == "alreadyInProgress")
    #expect(GATTError.queueFull.bluetoothError.name == "limitReached")
    #expect(GATTError.invalidResponse(.readResponse, .malformed).bluetoothError.name == "protocolViolation")
  }
}
