import Bluetooth
import HCI
import Testing

@testable import VirtualController

/// The procedures of a link between two ends that a test connects.
@Suite struct LinkProceduresTests {
  private static let times = ProcedurePair.times
  private static let faster = LinkTimes(interval: 6, latency: 0, timeout: 400)

  @Test("Both sides change at the instant, six events later")
  func instant() {
    var pair = ProcedurePair()
    pair.begin(.central, .parameters(Self.faster, minimum: 6), at: 10)
    pair.settle(at: 10)
    for event in UInt16(11)...15 { #expect(pair.begins(event).isEmpty) }
    #expect(pair.begins(16) == [.central: .times(Self.faster), .peripheral: .times(Self.faster)])
    #expect(pair.statuses(.central) == [.success] && pair.statuses(.peripheral) == [.success])
    #expect(pair.ends[.peripheral]?.times == Self.faster && pair.ends[.central]?.isBusy == false)
  }

  @Test("Requests for parameters of both sides: the peripheral's collides with an equal procedure")
  func sameProcedure() {
    var pair = ProcedurePair()
    pair.begin(.central, .parameters(Self.faster, minimum: 6))
    pair.begin(.peripheral, .parameters(Self.times, minimum: 24))
    pair.settle()
    #expect(pair.statuses(.peripheral) == [.lmpErrorTransactionCollision])
    #expect(pair.begins(6).count == 2)
    #expect(pair.ends[.peripheral]?.times == Self.faster)
    #expect(pair.statuses(.peripheral) == [.lmpErrorTransactionCollision, .success])
  }

  @Test("A PHY beside parameters: the peripheral's request collides with another procedure")
  func otherProcedure() {
    var pair = ProcedurePair()
    pair.begin(.central, .parameters(Self.faster, minimum: 6))
    pair.begin(.peripheral, .phy(tx: 2, rx: 2))
    pair.settle()
    #expect(pair.statuses(.peripheral) == [.differentTransactionCollision])
    pair.begin(.peripheral, .phy(tx: 2, rx: 2))
    #expect(pair.begins(6).count == 2)
    pair.settle(at: 6)
    #expect(
      pair.begins(12) == [.central: .phys(central: 2, peripheral: 2), .peripheral: .phys(central: 2, peripheral: 2)])
    #expect(pair.ends[.central]?.phys.tx == 2 && pair.ends[.central]?.phys.rx == 2)
  }

  @Test("A request for one PHY excludes the others for the other side, too")
  func preference() {
    var pair = ProcedurePair()
    pair.begin(.central, .phy(tx: 2, rx: 2))
    pair.settle()
    _ = pair.begins(6)
    pair.begin(.peripheral, .phy(tx: 1, rx: 1), at: 6)
    pair.settle(at: 6)
    _ = pair.begins(12)
    #expect(pair.ends[.peripheral]?.phys.tx == 2)
    #expect(pair.statuses(.peripheral) == [.success, .success])
  }

  @Test("An instant that has passed ends the link")
  func passed() {
    var pair = ProcedurePair { $0.instantDistance = 0 }
    pair.begin(.central, .parameters(Self.faster, minimum: 6), at: 10)
    pair.settle(at: 11)
    #expect(pair.over == [.peripheral: .instantPassed])
  }

  @Test func lengthsAreTheShorterOnes() {
    var pair = ProcedurePair()
    pair.begin(.central, .length(tx: 100))
    pair.settle()
    #expect(pair.ends[.central]?.lengths == LinkLengths(tx: 100, rx: 251))
    #expect(pair.ends[.peripheral]?.lengths == LinkLengths(tx: 251, rx: 100))
    #expect(pair.reports[.central]?.count == 1 && pair.reports[.peripheral]?.count == 1)
  }

  // MARK: - Encryption

  private static let key = [UInt8](repeating: 7, count: 16)
  private static let encryption = Procedure.encryption(key: key, random: 1, diversifier: 2)

  @Test("Data wait from the request until both sides encrypt, and again when the key is renewed")
  func encryption() throws {
    var pair = ProcedurePair()
    for isAgain in [false, true] {
      pair.begin(.central, Self.encryption)
      pair.settle()
      #expect(pair.paused == 2)
      guard case .leLongTermKeyRequest(let request)? = pair.reports[.peripheral]?.last else {
        Issue.record("no request for a key")
        return
      }
      #expect(request.randomNumber == 1 && request.encryptedDiversifier == 2)
      try pair.answerKey(Self.key)
      pair.settle()
      #expect(pair.paused == 0)
      for role in [LinkRole.central, .peripheral] {
        switch pair.reports[role]?.last {
        case .encryptionChange(let event): #expect(!isAgain && event.mode == 1)
        case .encryptionKeyRefreshComplete(let event): #expect(isAgain && event.status.isSuccess)
        default: Issue.record("\(role) is told nothing")
        }
      }
    }
  }

  @Test("Without a key the central is told, and a link that was encrypted ends")
  func lostKey() throws {
    var pair = ProcedurePair()
    pair.begin(.central, Self.encryption)
    pair.settle()
    try pair.answerKey(nil)
    pair.settle()
    guard case .encryptionChange(let event)? = pair.reports[.central]?.last else {
      Issue.record("the central is told nothing")
      return
    }
    #expect(event.status.code == .pinOrKeyMissing && event.mode == 0 && pair.over.isEmpty)
    pair.begin(.central, Self.encryption)
    pair.settle()
    try pair.answerKey(Self.key)
    pair.settle()
    pair.begin(.central, Self.encryption)
    pair.settle()
    try pair.answerKey(nil)
    #expect(pair.over == [.peripheral: .pinOrKeyMissing])
  }

  @Test func otherKeyFailsTheCheck() throws {
    var pair = ProcedurePair()
    pair.begin(.central, Self.encryption)
    pair.settle()
    try pair.answerKey([UInt8](repeating: 8, count: 16))
    pair.settle()
    #expect(pair.over == [.peripheral: .terminatedMICFailure])
  }
}
