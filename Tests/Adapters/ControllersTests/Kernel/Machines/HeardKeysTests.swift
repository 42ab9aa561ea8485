import Adapter
import Bluetooth
import Testing

@testable import Controllers

@Suite struct HeardKeysTests {
  private func key(_ octet: UInt8) -> [UInt8] { [UInt8](repeating: octet, count: 16) }

  private var bond: Bond {
    var bond = Bond(local: ScriptedKernel.address, peer: DeviceAddress(value: 1, kind: .public))
    bond.add(
      LongTermKey(
        value: key(5), size: 16, diversifier: 0, random: 0, isAuthenticated: false, isSecureConnections: true,
        role: .central))
    return bond
  }

  @Test("A link whose key may have been among lost events is not trusted")
  func lost() {
    var heard = HeardKeys()
    heard.linkIsUp(1, isHeard: true)
    heard.linkIsUp(2, isHeard: true)
    heard.observed(key(5), on: 2)
    #expect(!heard.isOther(than: bond, on: 1, isEncrypted: true))
    heard.eventsLost([1, 2])
    #expect(heard.isOther(than: bond, on: 1, isEncrypted: true))
    #expect(!heard.isOther(than: bond, on: 1, isEncrypted: false), "its key is still to come")
    #expect(!heard.isOther(than: bond, on: 2, isEncrypted: true), "its key was heard before")
    heard.observed(key(5), on: 1)
    #expect(!heard.isOther(than: bond, on: 1, isEncrypted: true))
    heard.observed(key(6), on: 1)
    #expect(heard.isOther(than: bond, on: 1, isEncrypted: true))
  }

  @Test func aLinkIsDoubtfulUntilItsKeyIsHeard() {
    var heard = HeardKeys()
    heard.linkIsUp(1, isHeard: true)
    #expect(!heard.isDoubtful(1))
    heard.eventsLost([1])
    #expect(heard.isDoubtful(1) && !heard.isDoubtful(2))
    heard.observed(key(5), on: 1)
    #expect(!heard.isDoubtful(1))
  }

  @Test func aLinkThatBeganUnheardIsDoubtfulAndTheNextOfItsHandleIsNot() {
    var heard = HeardKeys()
    heard.linkIsUp(1, isHeard: false)
    #expect(heard.isOther(than: bond, on: 1, isEncrypted: true))
    heard.linkEnded(1)
    heard.linkIsUp(1, isHeard: true)
    #expect(!heard.isOther(than: bond, on: 1, isEncrypted: true))
  }
}
