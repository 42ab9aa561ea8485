import Adapter
import Bluetooth
import Testing

@testable import BledCore

/// The table of `LinkUp`, step by step.
@Suite struct LinkUpTests {
  private let peer = DeviceAddress(value: 0xC000_0000_0001, kind: .random)

  private func hci(_ code: Int) -> BluetoothError { BluetoothError(domain: .hci, code: code, name: "r", message: "r") }

  private func encrypting() -> LinkUp {
    var machine = LinkUp()
    #expect(machine.begin(level: 3, exchanges: true, now: .zero) == [.encrypt(level: 3)])
    #expect(machine.isEncrypting && machine.isUnderWay && machine.deadline == .zero.advanced(by: .seconds(30)))
    return machine
  }

  @Test func aLinkWithoutBondExchangesTheMTUOnce() {
    var machine = LinkUp()
    #expect(!machine.isUnderWay)
    #expect(machine.begin(level: nil, exchanges: true, now: .zero) == [.exchange])
    #expect(machine.isUnderWay && machine.deadline == nil)
    #expect(machine.begin(level: nil, exchanges: true, now: .zero) == [], "it is under way")
    #expect(machine.exchanged(now: .zero) == [.ready])
    #expect(machine.exchanged(now: .zero) == [] && !machine.isUnderWay)
    #expect(machine.begin(level: nil, exchanges: true, now: .zero) == [.ready])
  }

  @Test func theExchangeComesFirstWhereALinkMayNotEndInSilence() {
    var machine = LinkUp()
    #expect(machine.begin(level: 3, exchanges: true, exchangesFirst: true, now: .zero) == [.exchange])
    #expect(machine.exchanged(now: .zero) == [.encrypt(level: 3)])
    #expect(machine.isUnderWay && machine.deadline == .zero.advanced(by: .seconds(30)))
    #expect(machine.encryptionEnded(nil) == [.ready, .improve])
    machine = LinkUp()
    let actions = machine.begin(level: 3, exchanges: false, exchangesFirst: true, now: .zero)
    #expect(actions == [.encrypt(level: 3)], "the device is not asked")
  }

  @Test func aDeviceThatTakesNoExchangeIsNotAsked() {
    var machine = LinkUp()
    #expect(machine.begin(level: nil, exchanges: false, now: .zero) == [.ready])
    machine = LinkUp()
    _ = machine.begin(level: 2, exchanges: false, now: .zero)
    #expect(machine.encryptionEnded(nil) == [.ready, .improve])
  }

  @Test func encryptionComesBeforeTheExchange() {
    var machine = encrypting()
    #expect(machine.exchanged(now: .zero) == [] && machine.exchangeTimedOut() == [])
    #expect(machine.begin(level: 3, exchanges: true, now: .zero) == [])
    #expect(machine.encryptionEnded(nil) == [.exchange, .improve])
    #expect(!machine.isEncrypting && machine.deadline == nil)
    #expect(machine.encryptionEnded(hci(0x06)) == [], "it has ended")
    #expect(machine.exchanged(now: .zero) == [.ready])
    #expect(machine.timePassed(peer, now: .zero.advanced(by: .seconds(90))) == [])
  }

  @Test(arguments: [0x05, 0x06, 0x1A, 0x25, 0x2F, 0x3D])
  func keysThatAreOfNoUseAreLost(_ code: Int) {
    var machine = encrypting()
    #expect(machine.encryptionEnded(hci(code)) == [.keysLost(hci(code))])
    #expect(machine.linkEnded(hci(0x06)) == [], "that is told once")
    machine = encrypting()
    #expect(machine.linkEnded(hci(code)) == [.keysLost(hci(code))])
    #expect(machine.begin(level: nil, exchanges: true, now: .zero) == [], "nothing follows in plain text")
  }

  @Test func theAdapterSaysSoAsWell() {
    var machine = encrypting()
    let error = GAPError.pairingFailed.error("do not share keys any more")
    #expect(machine.encryptionEnded(error) == [.keysLost(error)])
  }

  @Test(arguments: [0x07, 0x08, 0x0C, 0x13, 0x16, 0x1F, 0x22, 0x23, 0x28, 0x2A, 0x3A, 0x3E])
  func otherFailuresArePassing(_ code: Int) {
    var machine = encrypting()
    #expect(machine.encryptionEnded(hci(code)) == [.disconnect(hci(code))])
    #expect(machine.linkEnded(hci(0x05)) == [], "the adapter ended it after that")
    machine = encrypting()
    #expect(machine.linkEnded(hci(code)) == [])
    #expect(machine.deadline == nil && machine.isUnderWay)
  }

  @Test(arguments: [GAPError.disconnected, .notConnected])
  func anErrorOfTheEndLeavesItToTheEnd(_ error: GAPError) {
    var machine = encrypting()
    #expect(machine.encryptionEnded(error.error("gone")) == [])
    #expect(machine.linkEnded(hci(0x3D)) == [.keysLost(hci(0x3D))])
  }

  @Test func encryptionHasThirtySeconds() {
    var machine = encrypting()
    #expect(machine.timePassed(peer, now: .zero.advanced(by: .milliseconds(29_999))) == [])
    let actions = machine.timePassed(peer, now: .zero.advanced(by: .seconds(30)))
    guard case .fail(let error)? = actions.first, actions.count == 1 else {
      Issue.record("\(actions)")
      return
    }
    #expect(error.name == "timeout" && error.message.contains("\(peer) did not encrypt the link"))
    #expect(machine.encryptionEnded(nil) == [], "it comes too late")
    #expect(machine.linkEnded(hci(0x05)) == [])
  }

  @Test func aLinkOfTheDeviceGoesOnAfterEachFailure() {
    func encrypting() -> LinkUp {
      var machine = LinkUp(role: .peripheral)
      #expect(machine.begin(level: 2, exchanges: true, now: .zero) == [.encrypt(level: 2)])
      return machine
    }
    func begins(_ machine: LinkUp) -> Bool {
      var machine = machine
      return !machine.isUnderWay && machine.begin(level: 2, exchanges: true, now: .zero) == [.encrypt(level: 2)]
    }
    var machine = encrypting()
    #expect(machine.encryptionEnded(hci(0x06)) == [.keysLost(hci(0x06))] && begins(machine))
    machine = encrypting()
    #expect(machine.encryptionEnded(hci(0x2A)) == [.fail(hci(0x2A))] && begins(machine))
    machine = encrypting()
    let actions = machine.timePassed(peer, now: .zero.advanced(by: .seconds(30)))
    guard case .fail(let error)? = actions.first, actions.count == 1 else {
      Issue.record("\(actions)")
      return
    }
    #expect(error.name == "timeout" && error.message.contains("\(peer) did not encrypt the link"))
    #expect(begins(machine))
    machine = encrypting()
    #expect(machine.encryptionEnded(nil) == [.exchange], "it got its PHY before")
    #expect(machine.exchanged(now: .zero) == [.ready])
  }

  @Test(arguments: [
    (0x13, LostExchange.hungUp), (0x14, .hungUp), (0x15, .hungUp), (0x08, .silent), (0x22, .silent), (0x16, nil),
    (0x3E, nil), (0x05, nil),
  ])
  func aLinkThatEndsDuringTheExchangeSpeaksAgainstIt(_ code: Int, _ lost: LostExchange?) {
    var machine = LinkUp()
    _ = machine.begin(level: nil, exchanges: true, now: .zero)
    #expect(machine.linkEnded(hci(code)) == (lost.map { [.lost($0)] } ?? []))
    #expect(machine.exchanged(now: .zero) == [])
    machine = LinkUp()
    _ = machine.begin(level: nil, exchanges: true, now: .zero)
    _ = machine.exchanged(now: .zero)
    #expect(machine.linkEnded(hci(code)) == [])
  }

  @Test func noAnswerSpeaksAgainstItAtOnce() {
    var machine = LinkUp()
    _ = machine.begin(level: nil, exchanges: true, now: .zero)
    #expect(machine.exchangeTimedOut() == [.lost(.unanswered)])
    #expect(machine.linkEnded(hci(0x16)) == [])
    #expect([LostExchange.unanswered, .hungUp, .silent].map(\.maximum) == [1, 2, 3])
  }
}
