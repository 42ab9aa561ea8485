import Adapter
import Bluetooth
import HCI
import Testing

@testable import Radio

/// Trains that go over links, as commands and events (Core 5.4, Vol 4, Part E, 7.8.89 to 7.8.91 and 7.7.65.24).
struct TrainTransferTests {
  private let train = PeriodicTrain(address: DeviceAddress(value: 0xF0F1_F2F3_F4F5, kind: .random), sid: 3)
  private let parameters = SyncParameters(timeout: .seconds(2))
  private let set = AdvertisingSetID(1)
  private let unknown = CommandSlot.Answer(
    opcode: .none, status: HCIStatus(.unknownAdvertisingIdentifier), complete: nil)
  private static let create = "4420 0e 00 03 01 f5f4f3f2f1f0 0000 c800 00"
  private static let received = "3e 14 18 00 4000 0700 0100 03 01 f5f4f3f2f1f0 02 5000 00"

  private var told: ReceivedTrain {
    ReceivedTrain(train: train, interval: .milliseconds(100), phy: .le2M, serviceData: 7)
  }
  private var synchronised: RadioAction {
    .periodic(train, .synchronised(interval: .milliseconds(100), phy: .le2M))
  }

  private func script() -> RadioScript<ExtendedFamily> {
    RadioScript(sets: 2, features: [.periodicAdvertising, .periodicTransferSender, .periodicTransferRecipient])
  }

  /// A train was transferred and is followed.
  private func following() throws -> RadioScript<ExtendedFamily> {
    var script = script()
    try script.hear(Self.received)
    script.expectTold(.trainReceived(handle: 0x40, told))
    script.silent()
    return script
  }

  /// A train is being sought.
  private func seeking() throws -> RadioScript<ExtendedFamily> {
    var script = script()
    script.give(.wantSync(train, parameters))
    try script.answer()
    try script.started(Self.create)
    return script
  }

  @Test func aTransferredTrainIsFollowedLikeAnyOther() throws {
    var script = try following()
    script.give(.wantSync(train, parameters))
    script.silent()
    try script.hear("3e 0a 0f 0100 04 c3 ff 00 02 0506")
    script.expectTold(.periodic(train, .received(PeriodicPacket(data: [5, 6], rssi: -61, txPower: 4))))
    try script.hear("3e 03 10 0100")
    script.expectTold(.periodic(train, .lost))
    try script.answer()
    try script.started(Self.create)
  }

  @Test func oneThatNobodyWantsIsTerminated() throws {
    var script = try following()
    script.give(.wantSync(train, nil))
    try script.command("4620 02 0100")
    script.silent()
    script.expectTold()
  }

  @Test("A train whose handle another one gets is lost, or gone if it is not wanted")
  func handleInUse() throws {
    func hear(_ sid: UInt8, _ script: inout RadioScript<ExtendedFamily>) throws -> RadioAction {
      try script.hear("3e 14 18 00 4000 0700 0100 0\(sid) 01 f5f4f3f2f1f0 02 5000 00")
      let next = PeriodicTrain(address: train.address, sid: sid)
      return .trainReceived(
        handle: 0x40, ReceivedTrain(train: next, interval: .milliseconds(100), phy: .le2M, serviceData: 7))
    }
    var script = try following()
    script.expectTold(.periodic(train, .lost), try hear(4, &script))
    script.give(.wantSync(train, nil))
    // The last one is being terminated.
    script.give(.wantSync(PeriodicTrain(address: train.address, sid: 4), nil))
    script.expectTold(try hear(5, &script))
  }

  @Test func oneThatCannotBeFollowedIsTold() throws {
    var script = script()
    try script.hear("3e 14 18 3e 4000 0700 0000 03 01 f5f4f3f2f1f0 02 5000 00")
    script.expectTold(.trainNotReceived(handle: 0x40, HCIStatus(.connectionFailedToBeEstablished)))
    script.silent()
  }

  @Test("A train that is sought and transferred meanwhile is followed, and the search ends")
  func sought() throws {
    var script = try seeking()
    try script.hear(Self.received)
    script.expectTold(.trainReceived(handle: 0x40, told), synchronised)
    try script.command("4520 00")
    try script.hear("3e 10 0e 44 0000 03 01 f5f4f3f2f1f0 01 0000 00")
    script.silent()
    script.expectTold()
  }

  @Test("The search that could not be cancelled any more leaves a second handle, which is terminated")
  func foundTwice() throws {
    var script = try seeking()
    try script.hear(Self.received)
    try script.hear("3e 10 0e 00 0200 03 01 f5f4f3f2f1f0 02 5000 00")
    script.expectTold(.trainReceived(handle: 0x40, told), synchronised)
    try script.command("4520 00", status: 0x0C)
    try script.command("4620 02 0200")
    script.silent()
    script.give(.wantSync(train, nil))
    try script.command("4620 02 0100")
    script.silent()
  }

  @Test("A train that is transferred while Create Sync waits for its answer")
  func justBeingSought() throws {
    var script = script()
    script.give(.wantSync(train, parameters))
    try script.answer()
    try script.hear(Self.received)
    try script.started(Self.create)
    script.expectTold(.trainReceived(handle: 0x40, told), synchronised)
    try script.command("4520 00")
    try script.hear("3e 10 0e 44 0000 03 01 f5f4f3f2f1f0 01 0000 00")
    script.silent()
  }

  @Test("A train that is given up while Create Sync waits for its answer does not block the next one")
  func givenUpAtOnce() throws {
    var script = script()
    script.give(.wantSync(train, parameters))
    try script.answer()
    script.give(.wantSync(train, nil))
    try script.started(Self.create)
    try script.command("4520 00")
    try script.hear("3e 10 0e 44 0000 03 01 f5f4f3f2f1f0 01 0000 00")
    script.silent()
    script.give(.wantSync(train, parameters))
    try script.started(Self.create)
  }

  @Test func afterTheEndNoTrainIsTaken() throws {
    var script = script()
    script.give(.quiet)
    script.expectTold(.quiet)
    try script.hear(Self.received)
    script.expectTold()
    try script.command("4620 02 0100")
  }

  @Test func aTrainThatIsFollowedIsTransferred() throws {
    var script = try following()
    let transfer = TrainTransfer(train: .followed(train), link: 0x41, serviceData: 0x1234)
    script.give(.train(5, .transfer(transfer)))
    try script.command("5a20 06 4100 3412 0100", returns: "4100")
    guard case .answered(question: 5, let answer)? = script.takeTold().first else {
      Issue.record("not answered")
      return
    }
    #expect(answer.status.isSuccess)
    try script.hear("3e 03 10 0100")
    _ = script.takeTold()
    script.give(.train(6, .transfer(transfer)))
    script.expectTold(.answered(question: 6, unknown))
  }

  @Test("A train of our own is transferred while it is on the air, not while it is being ended")
  func ownTrain() throws {
    var script = script()
    var parameters = AdvertisingParameters(kind: .nonconnectable, data: [])
    parameters.isExtended = true
    parameters.periodic = PeriodicAdvertising(interval: .milliseconds(100), data: [1])
    let transfer = TrainTransfer(train: .own(set), link: 0x41, serviceData: 0)
    script.give(.train(1, .transfer(transfer)))
    script.expectTold(.answered(question: 1, unknown))
    script.give(.wantAdvertising(set, parameters))
    while script.isAsked { try script.answer() }
    _ = script.takeTold()
    script.give(.train(2, .transfer(transfer)))
    try script.command("5b20 05 4100 0000 00", returns: "4100")
    _ = script.takeTold()
    script.give(.wantAdvertising(set, nil))
    script.give(.train(3, .transfer(transfer)))
    script.expectTold(.answered(question: 3, unknown))
  }

  @Test func withoutATrainAnAdvertisementCannotBeTransferred() throws {
    var script = script()
    var parameters = AdvertisingParameters(kind: .nonconnectable, data: [])
    parameters.isExtended = true
    script.give(.wantAdvertising(set, parameters))
    while script.isAsked { try script.answer() }
    _ = script.takeTold()
    script.give(.train(2, .transfer(TrainTransfer(train: .own(set), link: 0x41, serviceData: 0))))
    script.expectTold(.answered(question: 2, unknown))
  }
}
