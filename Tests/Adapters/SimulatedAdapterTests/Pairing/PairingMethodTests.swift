import Adapter
import Bluetooth
import Testing

@testable import SimulatedAdapter

/// Core 5.4, Vol 3, Part H, 2.3.5.1, table 2.8, and the machine of one pairing.
struct PairingMethodTests {
  private static let none = PairingCapability.none
  /// Rows: the responder, which is the peripheral; columns: the initiator. C comparison, P the peripheral shows, Z the
  /// central shows, T typed at both, J Just Works.
  private static let order: [PairingCapability] = [.display, .displayYesNo, .keyboard, none, .keyboardDisplay]

  private func table(isSecureConnections: Bool) -> [String] {
    Self.order.map { peripheral in
      String(
        Self.order.map { central -> Character in
          let method = PairingMethod(
            central: PairingFeatures(
              capability: central, hasSecureConnections: isSecureConnections, wantsAuthentication: true),
            peripheral: PairingFeatures(capability: peripheral, wantsAuthentication: false))
          return switch method {
          case .justWorks: "J"
          case .comparison: "C"
          case .passkey(.central): "Z"
          case .passkey(.peripheral): "P"
          case .typedPasskey: "T"
          case .outOfBand: "O"
          }
        })
    }
  }

  @Test("the table of methods")
  func table() {
    #expect(table(isSecureConnections: false) == ["JJPJP", "JJPJP", "ZZTJZ", "JJJJJ", "ZZPJZ"])
    #expect(table(isSecureConnections: true) == ["JJPJP", "JCPJC", "ZZTJZ", "JJJJJ", "ZCPJC"])
  }

  @Test("who wants no protection gets none")
  func justWorks() {
    let features = PairingFeatures(capability: .keyboardDisplay, wantsAuthentication: false)
    #expect(PairingMethod(central: features, peripheral: features) == .justWorks)
  }

  private func machine(_ central: PairingFeatures?, _ peripheral: PairingFeatures?) -> PairingMachine {
    PairingMachine(
      central: central, peripheral: peripheral,
      numbers: .init(compared: 1, shownByCentral: 2, shownByPeripheral: 3), roundTrip: .seconds(1), now: .zero)
  }

  private func at(_ seconds: Int) -> Instant { .zero.advanced(by: .seconds(seconds)) }

  @Test("a passkey is shown and typed; the result has the lower abilities of both")
  func passkey() {
    let keyboard = PairingFeatures(capability: .keyboard, wantsAuthentication: true, keySize: 9)
    let display = PairingFeatures(
      capability: .display, hasSecureConnections: false, bonds: false, wantsAuthentication: false)
    var machine = machine(keyboard, display)
    var actions: [PairingMachine.Action] = []
    machine.timePassed(now: at(0), actions: &actions)
    #expect(actions.isEmpty)
    machine.timePassed(now: at(1), actions: &actions)
    #expect(actions == [.show(.peripheral, 3), .ask(.central, .passkey)])
    // This side was not asked.
    machine.answered(.peripheral, .refuse, now: at(1), actions: &actions)
    machine.answered(.central, .passkey(3), now: at(2), actions: &actions)
    machine.timePassed(now: at(3), actions: &actions)
    let outcome = PairingMachine.Outcome(
      method: .passkey(shownBy: .peripheral), isSecureConnections: false, keySize: 9, bonds: false)
    #expect(actions.last == .succeeded(outcome))
    #expect(outcome.security == LinkSecurity(level: 3, keySize: 9))
    var secure = outcome
    secure.isSecureConnections = true
    #expect(secure.security == LinkSecurity(level: 3, keySize: 9), "level 4 needs a key of 16 octets")
    secure.keySize = 16
    #expect(secure.security == LinkSecurity(level: 4, keySize: 16))
    #expect(machine.deadline == nil)
  }

  @Test("the ends that are no bond")
  func failures() {
    let compares = PairingFeatures(capability: .displayYesNo, wantsAuthentication: true)
    let types = PairingFeatures(capability: .keyboard, wantsAuthentication: true)
    func end(
      _ central: PairingFeatures?, _ peripheral: PairingFeatures?, _ answers: [(LinkRole, PairingAnswer)]
    ) -> PairingMachine.Action? {
      var machine = machine(central, peripheral)
      var actions: [PairingMachine.Action] = []
      machine.timePassed(now: at(1), actions: &actions)
      for (role, answer) in answers { machine.answered(role, answer, now: at(1), actions: &actions) }
      machine.timePassed(now: at(31), actions: &actions)
      return actions.last
    }
    #expect(end(compares, nil, []) == .failed(.notSupported(.peripheral)))
    #expect(end(nil, compares, []) == .failed(.notSupported(.central)))
    #expect(end(compares, compares, [(.central, .accept), (.peripheral, .refuse)]) == .failed(.refused(.peripheral)))
    #expect(end(compares, compares, [(.central, .accept)]) == .failed(.timeout))
    #expect(end(compares, types, [(.peripheral, .passkey(9))]) == .failed(.wrongPasskey))
    #expect(
      end(types, types, [(.peripheral, .passkey(9)), (.central, .passkey(8))]) == .failed(.wrongPasskey))
    let short = PairingFeatures(capability: .none, wantsAuthentication: false, keySize: 6)
    #expect(end(compares, short, []) == .failed(.keyTooShort))
  }
}
