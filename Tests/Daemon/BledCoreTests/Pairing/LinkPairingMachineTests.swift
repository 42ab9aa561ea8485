import Bluetooth
import Testing

@testable import BledCore

/// Every pair of state and input of `LinkPairingMachine`, as its table has them.
@Suite struct LinkPairingMachineTests {
  private typealias State = LinkPairingMachine.State

  private enum Input: CaseIterable {
    case begins, bonded, pairedWithoutBond, encryptedOtherwise, failed
  }

  private func apply(_ input: Input, to machine: inout LinkPairingMachine) {
    switch input {
    case .begins: machine.begins()
    case .bonded: machine.bonded()
    case .pairedWithoutBond: machine.pairedWithoutBond()
    case .encryptedOtherwise: machine.encryptedOtherwise()
    case .failed: machine.failed()
    }
  }

  /// The shortest way into each state.
  private let ways: [(State, [Input])] = [
    (.quiet, []), (.agreeing(isUnbonded: false), [.begins]), (.bonded, [.begins, .bonded]),
    (.unbonded, [.pairedWithoutBond]), (.agreeing(isUnbonded: true), [.pairedWithoutBond, .begins]),
  ]

  @Test("each input leads from each state where the table says")
  func transitions() {
    for (state, way) in ways {
      for input in Input.allCases {
        var machine = LinkPairingMachine()
        for step in way { apply(step, to: &machine) }
        #expect(machine.state == state)
        apply(input, to: &machine)
        let expected: State =
          switch (state, input) {
          case (.unbonded, .begins), (.agreeing(isUnbonded: true), .begins): .agreeing(isUnbonded: true)
          case (_, .begins): .agreeing(isUnbonded: false)
          case (_, .bonded): .bonded
          case (.agreeing, .encryptedOtherwise): .agreeing(isUnbonded: true)
          case (_, .pairedWithoutBond), (_, .encryptedOtherwise): .unbonded
          case (.unbonded, .failed), (.agreeing(isUnbonded: true), .failed): .unbonded
          case (_, .failed): .quiet
          }
        #expect(machine.state == expected, "\(state), \(input)")
      }
    }
  }

  @Test("a passkey counts as tried only while keys are being agreed on")
  func passkey() {
    var machine = LinkPairingMachine()
    machine.begins()
    machine.approved(.passkey(1))
    #expect(machine.passkey == 1)
    machine.bonded()
    #expect(machine.passkey == nil && machine.approval != nil)
  }

  @Test("a failed pairing needs a new approval; lost keys are told once")
  func approvals() {
    var machine = LinkPairingMachine()
    machine.approved(.policy)
    machine.begins()
    machine.failed()
    #expect(machine.approval == nil)
    let told = [machine.keysLost(), machine.keysLost()]
    #expect(told == [true, false])
  }
}
