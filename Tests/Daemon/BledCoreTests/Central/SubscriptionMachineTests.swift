import Testing

@testable import BledCore

/// The table of `SubscriptionMachine`, step by step.
@Suite struct SubscriptionMachineTests {
  @Test func theDeviceIsToldOnceForAllSubscribers() {
    var machine = SubscriptionMachine<String>()
    var joined = machine.join("a", as: nil, else: .notification)
    #expect(joined)
    joined = machine.join("b", as: nil, else: .notification)
    #expect(joined)
    #expect(machine.members == ["a", "b"] && machine.receivers.isEmpty)
    machine.begin("b")
    machine.begin("c")
    #expect(machine.receivers == ["b"], "P15: the route exists before the device is told")
    #expect(machine.mustSwitch(on: true))
    #expect(machine.switching(on: true) == .notification)
    #expect(machine.mustSwitch(on: true), "as long as it is not known whether it did")
    machine.switched(on: true)
    #expect(!machine.mustSwitch(on: true))
    machine.leave("a")
    #expect(!machine.mustSwitch(on: false))
    machine.leave("b")
    #expect(machine.mustSwitch(on: false) && !machine.isIdle)
    joined = machine.join("a", as: nil, else: .notification)
    #expect(joined)
    #expect(!machine.mustSwitch(on: false) && !machine.mustSwitch(on: true), "who comes back in time finds it on")
    machine.leave("a")
    #expect(machine.switching(on: false) == [])
    #expect(machine.mustSwitch(on: false))
    machine.switched(on: false)
    #expect(machine.isIdle)
  }

  @Test func membersShareTheChoiceOfNotificationsOrIndications() {
    var machine = SubscriptionMachine<String>()
    var joined = machine.join("a", as: nil, else: .notification)
    #expect(joined)
    #expect(machine.switching(on: true) == .notification)
    machine.switched(on: true)
    joined = machine.join("b", as: .indication, else: .notification)
    #expect(!joined && machine.members == ["a"])
    joined = machine.join("a", as: .indication, else: .notification)
    #expect(joined, "who is alone may choose again")
    #expect(machine.mustSwitch(on: true))
    #expect(machine.switching(on: true) == .indication)
    machine.switched(on: true)
    joined = machine.join("b", as: nil, else: .notification)
    #expect(joined && machine.choice == .indication)
    #expect(!machine.mustSwitch(on: true), "who has no choice takes what others have chosen")
    machine.leave("a")
    machine.leave("b")
    joined = machine.join("c", as: nil, else: .notification)
    #expect(joined && machine.choice == .notification)
    #expect(machine.mustSwitch(on: true), "the device was told otherwise")
  }

  @Test func aRefusedSubscriptionLeavesNobodyBehind() {
    var machine = SubscriptionMachine<String>()
    let joined = machine.join("a", as: nil, else: .notification)
    #expect(joined)
    #expect(machine.switching(on: true) == .notification)
    machine.refused()
    machine.leave("a")
    #expect(machine.isIdle && !machine.mustSwitch(on: false))
  }
}
