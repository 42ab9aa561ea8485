import Adapter
import Bluetooth
import BluetoothCrypto
import HCI
import Testing

@testable import Controllers
@testable import Host

/// The time that a device waits after pairings that failed.
@Suite struct PairingAttemptsTests {
  /// The device shows another value than the confirmed one.
  private func guesses(_ device: PairingStage.Device) {
    device.terms.hasSecureConnections = false
    device.relay = { pdu in
      guard case .pairingRandom = pdu else { return [pdu] }
      return [.pairingRandom(Key128(5))]
    }
  }

  @Test func aDeviceThatGuessedHasToWaitAlsoForUs() throws {
    let stage = try PairingStage()
    let device = stage.connect(PairingStage.lamp, 0x40)
    guesses(device)
    #expect(stage.failures.isEmpty)
    _ = stage.raise(device)
    try stage.settle()
    #expect(stage.failures.count == 1)
    device.relay = { [$0] }
    let count = device.received.count
    let (first, second) = (stage.raise(device), stage.raise(device))
    try stage.settle()
    stage.scheduler.advance(by: .milliseconds(999))
    try stage.settle()
    #expect(first.all.isEmpty && device.received.count == count, "nothing is sent")
    stage.scheduler.advance(by: .milliseconds(1))
    try stage.settle()
    #expect(first.hasSucceeded && second.hasSucceeded)
    #expect(device.received.count { if case .pairingRequest = $0 { true } else { false } } == 2)
  }

  /// Each failure doubles the time until the next pairing: 1, 2, 4, 8 s.
  @Test func longWaitsAreToldAndTheEndOfALinkEndsOne() throws {
    let stage = try PairingStage()
    let device = stage.connect(PairingStage.lamp, 0x40)
    guesses(device)
    for failures in 1...4 {
      let outcome = stage.raise(device)
      stage.scheduler.advance(by: .seconds(4))
      try stage.settle()
      #expect(outcome.hasFailed && stage.failures.count == failures)
    }
    stage.scheduler.advance(by: .milliseconds(2500))
    let early = stage.raise(device)
    try stage.settle()
    #expect(early.error?.message.contains("try again in 6 s") == true)
    stage.scheduler.advance(by: .seconds(1))
    let waiting = stage.raise(device)
    try stage.settle()
    #expect(waiting.all.isEmpty)
    stage.pairing.ended(0x40, GAPError.disconnected.error("gone"))
    stage.scheduler.advance(by: .seconds(60))
    try stage.settle()
    #expect(waiting.error == GAPError.disconnected.error("gone") && stage.failures.count == 4)
  }

  /// A device has counted a failure that was none for us, such as one by the requirements of the two.
  @Test func aDeviceThatFindsAPairingTooEarlyIsAskedAgain() throws {
    let stage = try PairingStage()
    let device = stage.connect(PairingStage.lamp, 0x40)
    var refusals = 2
    device.relay = { pdu in
      guard case .pairingResponse = pdu, refusals > 0 else { return [pdu] }
      refusals -= 1
      device.manager = SecurityManager(role: .peripheral, local: PairingStage.lamp, peer: PairingStage.local)
      return [.pairingFailed(.repeatedAttempts)]
    }
    let outcome = stage.raise(device)
    try stage.settle()
    #expect(outcome.all.isEmpty && stage.failures.isEmpty)
    stage.scheduler.advance(by: .seconds(1))
    try stage.settle()
    #expect(outcome.all.isEmpty && stage.failures.isEmpty, "the device wants to wait longer")
    stage.scheduler.advance(by: .seconds(2))
    try stage.settle()
    #expect(outcome.hasSucceeded)
  }

  @Test func aDeviceThatFindsEachPairingTooEarlyIsTold() throws {
    let stage = try PairingStage()
    let device = stage.connect(PairingStage.lamp, 0x40)
    device.relay = { pdu in
      guard case .pairingResponse = pdu else { return [pdu] }
      device.manager = SecurityManager(role: .peripheral, local: PairingStage.lamp, peer: PairingStage.local)
      return [.pairingFailed(.repeatedAttempts)]
    }
    let outcome = stage.raise(device)
    for _ in 0..<7 {
      try stage.settle()
      #expect(outcome.all.isEmpty)
      stage.scheduler.advance(by: .seconds(1))
    }
    try stage.settle()
    #expect(outcome.error?.message.contains("it was tried too often") == true && stage.failures.count == 1)
    #expect(device.received.count { if case .pairingRequest = $0 { true } else { false } } == 4)
  }

  /// The first two learn something about a passkey with each attempt.
  @Test(arguments: [
    (PairingCapability.keyboard, PairingCapability.display), (.display, .keyboard), (.displayYesNo, .displayYesNo),
  ])
  func aDeviceThatFindsAPairingTooEarlyAfterAQuestionIsNotAskedAgain(
    _ ours: PairingCapability, _ theirs: PairingCapability
  ) throws {
    let stage = try PairingStage()
    let device = stage.connect(PairingStage.lamp, 0x40)
    device.terms.capability = theirs
    let outcome = stage.raise(device, to: 3, ours)
    try stage.settle()
    #expect(stage.events.count == 1 && outcome.all.isEmpty)
    device.relay = { _ in [] }
    for case .question(let id, .passkey) in stage.events.map(\.event) { stage.pairing.answer(id, .passkey(123_456)) }
    try stage.settle()
    stage.pairing.receive(SMPPDU.pairingFailed(.repeatedAttempts).encoded, on: 0x40)
    try stage.settle()
    #expect(outcome.error?.message.contains("it was tried too often") == true && stage.failures.count == 1)
    let counts = (packets: device.received.count, events: stage.events.count)
    stage.scheduler.advance(by: .seconds(5))
    try stage.settle()
    #expect(device.received.count == counts.packets && stage.events.count == counts.events)
  }

  @Test func aDeviceDoesNotWaitAfterTheAdapterWasSwitchedOff() throws {
    let stage = try PairingStage()
    stage.pairing.settings.acceptsDevices = true
    let device = stage.connect(PairingStage.phone, 0x40, as: .peripheral)
    try stage.begin(device)
    stage.pairing.ended(0x40, GAPError.disconnected.error("gone"))
    stage.pairing.switchedOff()
    try stage.begin(stage.connect(PairingStage.phone, 0x41, as: .peripheral))
    try stage.consent()
    #expect(stage.bonded.map(\.peer) == [PairingStage.phone])
  }

  /// The failure is not an authentication failure: the device ends it.
  @Test func aPairingThatADeviceBeginsAndFailsCostsASecond() throws {
    let stage = try PairingStage()
    stage.pairing.settings.acceptsDevices = true
    let device = stage.connect(PairingStage.phone, 0x40, as: .peripheral)
    device.relay = { pdu in
      guard case .pairingPublicKey = pdu else { return [pdu] }
      return [.pairingFailed(.unspecified)]
    }
    try stage.begin(device)
    #expect(stage.failures.count == 1)
    device.relay = { [$0] }
    device.manager = SecurityManager(role: .central, local: PairingStage.phone, peer: PairingStage.local)
    try stage.begin(device)
    #expect(device.received.last == .pairingFailed(.repeatedAttempts))
    stage.scheduler.advance(by: .seconds(1))
    try stage.begin(device)
    try stage.consent()
    #expect(stage.bonded.map(\.peer) == [PairingStage.phone])
  }

  @Test func aLinkThatEndsDuringAPairingThatADeviceBeganCostsASecond() throws {
    let stage = try PairingStage()
    stage.pairing.settings.acceptsDevices = true
    let device = stage.connect(PairingStage.phone, 0x40, as: .peripheral)
    try stage.begin(device)
    #expect(!stage.events.isEmpty && stage.failures.isEmpty)
    stage.pairing.ended(0x40, GAPError.disconnected.error("gone"))
    let again = stage.connect(PairingStage.phone, 0x41, as: .peripheral)
    try stage.begin(again)
    #expect(again.received.last == .pairingFailed(.repeatedAttempts))
    stage.scheduler.advance(by: .seconds(1))
    try stage.begin(again)
    try stage.consent()
    #expect(stage.bonded.map(\.peer) == [PairingStage.phone])
    stage.pairing.ended(0x41, GAPError.disconnected.error("gone"))

    // A pairing requested by a local program costs nothing.
    _ = stage.raise(stage.connect(PairingStage.lamp, 0x42))
    stage.pairing.ended(0x42, GAPError.disconnected.error("gone"))
    let outcome = stage.raise(stage.connect(PairingStage.lamp, 0x43))
    try stage.settle()
    #expect(outcome.hasSucceeded)
  }

  @Test func aPairingThatFailsAtItsFirstPacketCountsToo() throws {
    let stage = try PairingStage()
    stage.pairing.settings.acceptsDevices = true
    let device = stage.connect(PairingStage.phone, 0x40, as: .peripheral)
    device.relay = { pdu in
      guard case .pairingRequest(var features) = pdu else { return [pdu] }
      features.maximumKeySize = 6
      return [.pairingRequest(features)]
    }
    for reason in [PairingFailureReason.encryptionKeySize, .repeatedAttempts] {
      try stage.begin(device)
      #expect(device.received.last == .pairingFailed(reason))
    }
    #expect(stage.failures.count == 1)
  }
}
