import Adapter
import Bluetooth
import HCI
import Testing

@testable import Controllers

/// The system goes to sleep and wakes up.
@Suite("Sleep")
struct LifecycleSleepTests {
  private let suspend: UInt16 = 0x002D, resume: UInt16 = 0x002E
  private let nothingWokeIt = "00 000000000000 00".filter { $0 != " " }
  private let radio = LifecycleMachine.Action.openRadio(
    ControllerIndex(rawValue: 0), address: DeviceAddress(value: 0x00AA_0100_0000, kind: .public))

  private func on() throws -> LifecycleScript {
    var script = LifecycleScript(.index(0))
    try script.bringUp()
    _ = script.states()
    return script
  }

  @Test("An adapter that is suspended is quiet until it is resumed, and then opened again")
  func sleep() throws {
    var script = try on()
    try script.event(suspend, "01")
    #expect(script.take() == [.suspendRadio, .state(.suspended)])
    script.wait(.seconds(3600))
    script.silent()
    try script.event(resume, nothingWokeIt)
    #expect(script.take() == [radio])
    script.give(.radioOpened)
    #expect(script.states() == [.on])
    script.silent()
  }

  @Test("Other controllers' sleep does not matter")
  func others() throws {
    var script = try on()
    try script.event(suspend, "01", index: 1)
    #expect(script.take() == [])
  }

  @Test("A suspend that failed has ended all that went on: that is told, and the radio is opened again")
  func failed() throws {
    var script = try on()
    try script.event(suspend, "00")
    #expect(script.take() == [.closeRadio(LifecycleMachine.suspended), .state(.suspended), radio])
    script.give(.radioOpened)
    #expect(script.states() == [.on])
  }

  @Test("A suspend whose event was lost has ended all that went on, too")
  func lost() throws {
    var script = try on()
    try script.event(resume, nothingWokeIt)
    #expect(script.take() == [.closeRadio(LifecycleMachine.suspended), .state(.suspended), radio])
    script.give(.radioOpened)
    #expect(script.states() == [.on])
  }

  @Test("A controller that is suspended while it is set up is used when it is resumed")
  func whileConfiguring() throws {
    var script = LifecycleScript(.index(0))
    try script.findReady()
    try script.event(suspend, "02")
    try script.command("1800 0000 0100 03")
    #expect(script.states() == [.starting, .starting, .suspended])
    try script.event(resume, nothingWokeIt)
    #expect(script.take() == [radio])
  }

  @Test("The power that goes during sleep, and the answer to who asks for it")
  func power() throws {
    var script = try on()
    try script.event(suspend, "01")
    _ = script.take()
    script.give(.setPower(true))
    #expect(script.take() == [.powerDone(nil)])
    try script.event(0x0006, "10020000")
    #expect(script.states() == [.off])
    // Without power the kernel reports no resume.
    try script.event(0x0006, "11020000")
    try script.findReady()
    try script.command("1800 0000 0100 03")
    #expect(script.take().last == radio)
  }

  @Test("A controller that is pulled during sleep is absent")
  func removal() throws {
    var script = try on()
    try script.event(suspend, "01")
    try script.event(0x0005)
    #expect(script.states() == [.suspended, .absent])
  }

  @Test("After events were lost the kernel is asked, and its answer counts as the event")
  func eventsLost() throws {
    var script = try on()
    script.give(.eventsLost)
    try script.describe(address: 0x00AA_0100_0000, current: [.lowEnergy, .bondable])
    #expect(script.states() == [.off])
    script = try on()
    script.give(.eventsLost)
    try script.describe(address: 0x00AA_0100_0000, current: [.powered, .lowEnergy, .bondable])
    #expect(script.states() == [])
    script.give(.eventsLost)
    // Invalid Index.
    try script.command("0400 0000 0000", status: 0x11)
    #expect(script.states() == [.absent])
  }
}
