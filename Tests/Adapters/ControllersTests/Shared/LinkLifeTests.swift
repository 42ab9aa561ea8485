import Bluetooth
import HCI
import Testing

@testable import Controllers

struct LinkLifeTests {
  private let lost = HCIStatus(.connectionTimeout).error("the link ended")

  @Test func anEndThatComesEarlyIsDeliveredAtTheStart() {
    var life = LinkLife()
    let isDue = life.end(lost)
    #expect(!isDue && life.isOver && !life.isOpen)
    let early = life.start()
    #expect(early == lost)
  }

  @Test func anEndIsDeliveredOnce() {
    var life = LinkLife()
    let early = life.start()
    #expect(early == nil && life.isOpen)
    let ends = [life.end(lost), life.end(lost)]
    #expect(ends == [true, false])
  }

  @Test func aLinkIsLeftOnceAndGivenUpUntilItsEnd() {
    var life = LinkLife()
    let open = [life.leave(), life.leave(), life.giveUp("the first cause"), life.giveUp("another")]
    #expect(open == [true, false, true, true])
    #expect(life.cause == "the first cause")
    _ = life.end(lost)
    let over = [life.leave(), life.giveUp("it is over")]
    #expect(over == [false, false])
  }

  @Test func theReasonOfTheEndIsThatOfTheSideThatEndsIt() {
    func code(_ life: LinkLife, _ reason: HCIErrorCode) -> Int { life.error(HCIStatus(reason)).code }
    var life = LinkLife()
    #expect(code(life, .remoteUserTerminatedConnection) == 0x13)
    _ = life.leave()
    #expect(code(life, .remoteUserTerminatedConnection) == 0x16)
    #expect(code(life, .unknownConnectionIdentifier) == 0x16)
    life.failure = HCIStatus(.pinOrKeyMissing)
    #expect(code(life, .authenticationFailure) == 0x06)
    #expect(code(life, .connectionTimeout) == 0x08)
  }
}
