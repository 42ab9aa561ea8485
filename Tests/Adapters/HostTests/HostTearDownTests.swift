import Bluetooth
import HCI
import Host
import Radio
import Testing

@Suite struct HostTearDownTests {
  private static let start = Instant.zero

  private static func disconnect(_ handle: ConnectionHandle) -> HostTearDown.Action {
    // Remote Device Terminated Connection due to Power Off.
    .send(CommandPacket(opcode: 0x0406, parameters: [UInt8(handle & 0xFF), UInt8(handle >> 8), 0x15]))
  }

  private static let reset = HostTearDown.Action.send(CommandPacket(opcode: 0x0C03, parameters: []))

  private static func started(_ opcode: Opcode, _ status: HCIStatus = .success, credits: UInt8 = 1) -> HCIEvent {
    .commandStatus(
      CommandStatus {
        $0.opcode = opcode
        $0.status = status
        $0.credits = credits
      })
  }

  private static func ended(_ handle: ConnectionHandle) -> HCIEvent {
    .disconnectionComplete(
      DisconnectionComplete {
        $0.handle = handle
        $0.reason = HCIStatus(.terminatedByLocalHost)
      })
  }

  private static let wasReset = HCIEvent.commandComplete(
    CommandComplete {
      $0.opcode = HostSetUp.reset.opcode
      $0.returnParameters = [0]
    })

  private func tearDown(_ links: [ConnectionHandle], executing packet: CommandPacket? = nil) -> HostTearDown {
    var slot = CommandSlot()
    if let packet { slot.send(packet, at: Self.start) }
    return HostTearDown(links: links, slot: slot)
  }

  @Test func withoutLinksTheControllerIsResetAtOnce() {
    var machine = tearDown([])
    #expect(machine.start(at: Self.start) == [Self.reset])
    #expect(machine.handle(Self.wasReset, at: Self.start) == [.done])
    #expect(machine.deadline == nil)
  }

  @Test func linksEndOneAfterTheOther() {
    var machine = tearDown([0x40, 0x41])
    #expect(machine.start(at: Self.start) == [Self.disconnect(0x40)])
    #expect(machine.handle(Self.started(Disconnect.opcode), at: Self.start) == [Self.disconnect(0x41)])
    #expect(machine.handle(Self.ended(0x40), at: Self.start) == [])
    #expect(machine.handle(Self.started(Disconnect.opcode), at: Self.start) == [])
    #expect(machine.handle(Self.ended(0x41), at: Self.start) == [Self.reset])
    #expect(machine.handle(Self.wasReset, at: Self.start) == [.done])
  }

  @Test func aCommandThatIsExecutedIsAwaited() {
    let read = CommandPacket(LEReadRemoteFeatures(handle: 0x40))
    var machine = tearDown([0x40], executing: read)
    #expect(machine.start(at: Self.start) == [])
    // Of the controller's two answers the later one has the credit.
    #expect(machine.handle(Self.started(read.opcode, credits: 0), at: Self.start) == [])
    #expect(machine.handle(Self.started(.none, credits: 1), at: Self.start) == [Self.disconnect(0x40)])
  }

  @Test("a link that is being ended for another reason is not reset before its device knows")
  func aLinkThatIsBeingEnded() {
    var machine = tearDown([0x40], executing: CommandPacket(Disconnect(handle: 0x40, reason: .success)))
    #expect(machine.start(at: Self.start) == [])
    #expect(machine.handle(Self.started(Disconnect.opcode), at: Self.start) == [Self.disconnect(0x40)])
    let refused = HCIStatus(.commandDisallowed)
    #expect(machine.handle(Self.started(Disconnect.opcode, refused), at: Self.start) == [])
    #expect(machine.handle(Self.ended(0x40), at: Self.start) == [Self.reset])
  }

  @Test("a controller that is set up executes Reset: it is not sent twice")
  func aControllerThatIsSetUp() throws {
    var machine = tearDown([], executing: HostSetUp.reset)
    #expect(machine.start(at: Self.start) == [])
    #expect(machine.deadline == Self.start.advanced(by: .seconds(1)))
    #expect(machine.handle(Self.wasReset, at: Self.start) == [.done])
  }

  @Test("the other links are ended where a command has no answer, or the next one no credit", arguments: [false, true])
  func aCommandWithoutAnswer(isAnswered: Bool) throws {
    let read = CommandPacket(LEReadRemoteFeatures(handle: 0x40))
    var machine = tearDown([0x40, 0x41], executing: read)
    #expect(machine.start(at: Self.start) == [])
    if isAnswered { #expect(machine.handle(Self.started(read.opcode, credits: 0), at: Self.start) == []) }
    #expect(machine.handle(Self.ended(0x40), at: Self.start) == [])
    let first = try #require(machine.deadline)
    #expect(first == Self.start.advanced(by: .milliseconds(500)))
    #expect(machine.tick(at: first) == [Self.disconnect(0x41)])
    // Nor has this one.
    let second = try #require(machine.deadline)
    #expect(machine.tick(at: second) == [])
    #expect(machine.deadline == Self.start.advanced(by: .seconds(2)))
    #expect(machine.handle(Self.ended(0x41), at: second) == [Self.reset])
  }

  @Test("a link that the device ends, or that the controller does not know, is not waited for")
  func linksThatAreOver() {
    var machine = tearDown([0x40, 0x41, 0x42])
    #expect(machine.start(at: Self.start) == [Self.disconnect(0x40)])
    #expect(machine.handle(Self.ended(0x41), at: Self.start) == [])
    let unknown = HCIStatus(.unknownConnectionIdentifier)
    #expect(machine.handle(Self.started(Disconnect.opcode, unknown), at: Self.start) == [Self.disconnect(0x42)])
    #expect(machine.handle(Self.started(Disconnect.opcode), at: Self.start) == [])
    #expect(machine.handle(Self.ended(0x42), at: Self.start) == [Self.reset])
  }

  @Test func aLinkThatComesUpMeanwhileEndsAsWell() {
    var machine = tearDown([0x40])
    _ = machine.start(at: Self.start)
    _ = machine.handle(Self.started(Disconnect.opcode), at: Self.start)
    let failed = HCIEvent.leConnectionComplete(
      LEConnectionComplete {
        $0.status = HCIStatus(.unknownConnectionIdentifier)
        $0.handle = 0x43
      })
    #expect(machine.handle(failed, at: Self.start) == [])
    let new = HCIEvent.leEnhancedConnectionComplete(LEEnhancedConnectionComplete { $0.handle = 0x41 })
    #expect(machine.handle(new, at: Self.start) == [Self.disconnect(0x41)])
    #expect(machine.handle(Self.ended(0x40), at: Self.start) == [])
    #expect(machine.handle(Self.started(Disconnect.opcode), at: Self.start) == [])
    #expect(machine.handle(Self.ended(0x41), at: Self.start) == [Self.reset])
  }

  @Test func aDeviceThatAcknowledgesNothingIsLeftToReset() throws {
    var machine = tearDown([0x40, 0x41])
    _ = machine.start(at: Self.start)
    _ = machine.handle(Self.started(Disconnect.opcode), at: Self.start)
    _ = machine.handle(Self.started(Disconnect.opcode), at: Self.start)
    _ = machine.handle(Self.ended(0x41), at: Self.start)
    let deadline = try #require(machine.deadline)
    #expect(deadline == Self.start.advanced(by: .seconds(2)))
    #expect(machine.tick(at: deadline.advanced(by: .milliseconds(-1))) == [])
    #expect(machine.tick(at: deadline) == [Self.reset])
  }

  @Test func aControllerThatAnswersNothingIsLeft() throws {
    var machine = tearDown([0x40])
    #expect(machine.start(at: Self.start) == [Self.disconnect(0x40)])
    let command = try #require(machine.deadline)
    #expect(command == Self.start.advanced(by: .milliseconds(500)) && machine.tick(at: command) == [])
    let first = try #require(machine.deadline)
    #expect(first == Self.start.advanced(by: .seconds(2)) && machine.tick(at: first) == [Self.reset])
    // Late answers change nothing.
    #expect(machine.handle(Self.started(Disconnect.opcode), at: first) == [])
    #expect(machine.handle(Self.ended(0x40), at: first) == [])
    let second = try #require(machine.deadline)
    #expect(second == first.advanced(by: .seconds(1)))
    #expect(machine.tick(at: second) == [.done])
    #expect(machine.tick(at: second) == [] && machine.handle(Self.wasReset, at: second) == [])
  }
}
