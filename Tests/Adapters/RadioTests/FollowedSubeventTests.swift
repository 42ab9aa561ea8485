import Adapter
import Bluetooth
import HCI
import Testing

@testable import Radio

/// Following trains with subevents, and responding to them, as commands and events (Core 5.4, Vol 4, Part E, 7.8.126,
/// 7.8.127 and 7.7.65.14, .15 and .24).
struct FollowedSubeventTests {
  private let train = PeriodicTrain(address: DeviceAddress(value: 0xF0F1_F2F3_F4F5, kind: .random), sid: 3)
  private let subevents = TrainSubevents(
    count: 4, interval: .milliseconds(25), slotDelay: .milliseconds(5), slotSpacing: .microseconds(2500))
  private static let established = "3e 14 24 00 0100 03 01 f5f4f3f2f1f0 02 5000 00 04 14 04 14"
  private static let features: LEFeatures = [
    .periodicAdvertising, .periodicTransferRecipient, .periodicResponsesScanner,
  ]

  private var synchronised: RadioAction {
    .periodic(train, .synchronised(interval: .milliseconds(100), phy: .le2M, subevents: subevents))
  }

  private func following() throws -> RadioScript<ExtendedFamily> {
    var script = RadioScript<ExtendedFamily>(features: Self.features)
    script.give(.wantSync(train, SyncParameters(timeout: .seconds(2))))
    try script.answer()
    try script.started("4420 0e 00 03 01 f5f4f3f2f1f0 0000 c800 00")
    try script.hear(Self.established)
    script.expectTold(synchronised)
    return script
  }

  /// The controller has answered a question.
  private func answer(_ number: Int, in script: inout RadioScript<ExtendedFamily>) throws -> HCIErrorCode? {
    guard case .answered(question: number, let answer)? = script.takeTold().first else {
      Issue.record("not answered")
      return nil
    }
    return answer.status.code
  }

  @Test("The second versions of the events are unmasked beside the first ones")
  func unmasking() throws {
    var script = RadioScript<ExtendedFamily>(features: Self.features)
    script.give(.wantSync(train, SyncParameters(timeout: .seconds(2))))
    // 35 to 37 beside 13 to 15 and 23.
    try script.command("0120 08 8ffb820038000000")
  }

  @Test func subeventsAreChosenAndTheirPacketsAreTold() throws {
    var script = try following()
    script.give(.train(1, .receive([0, 2], of: train)))
    try script.command("8420 07 0100 0000 02 00 02", returns: "0100")
    #expect(try answer(1, in: &script) == .success)
    script.silent()
    try script.hear("3e 0d 25 0100 04 c3 ff 0700 02 00 02 0506")
    script.expectTold(
      .periodic(
        train,
        .received(PeriodicPacket(data: [5, 6], rssi: -61, txPower: 4, place: SubeventPlace(event: 7, subevent: 2)))))
  }

  @Test("Parts of a packet are joined; those of another packet, or of one that failed, are dropped")
  func parts() throws {
    var script = try following()
    try script.hear("3e 0d 25 0100 7f 7f ff 0700 02 01 02 0102")
    try script.hear("3e 0c 25 0100 7f 7f ff 0700 02 00 01 03")
    let joined = PeriodicPacket(data: [1, 2, 3], rssi: nil, place: SubeventPlace(event: 7, subevent: 2))
    script.expectTold(.periodic(train, .received(joined)))
    try script.hear("3e 0d 25 0100 7f 7f ff 0800 02 01 02 0102")
    try script.hear("3e 0c 25 0100 7f 7f ff 0800 03 00 01 03")
    let next = PeriodicPacket(data: [3], rssi: nil, place: SubeventPlace(event: 8, subevent: 3))
    script.expectTold(.periodic(train, .received(next)))
    try script.hear("3e 0d 25 0100 7f 7f ff 0900 02 01 02 0102")
    try script.hear("3e 0b 25 0100 7f 7f ff 0900 02 ff 00")
    try script.hear("3e 0c 25 0100 7f 7f ff 0900 02 00 01 03")
    let last = PeriodicPacket(data: [3], rssi: nil, place: SubeventPlace(event: 9, subevent: 2))
    script.expectTold(.periodic(train, .received(last)))
  }

  @Test("A packet of a train without subevents has none, whatever the report says")
  func plainTrain() throws {
    var script = RadioScript<ExtendedFamily>(features: Self.features)
    script.give(.wantSync(train, SyncParameters(timeout: .seconds(2))))
    try script.answer()
    try script.started("4420 0e 00 03 01 f5f4f3f2f1f0 0000 c800 00")
    try script.hear("3e 14 24 00 0100 03 01 f5f4f3f2f1f0 02 5000 00 00 00 00 00")
    script.expectTold(.periodic(train, .synchronised(interval: .milliseconds(100), phy: .le2M)))
    try script.hear("3e 0c 25 0100 7f 7f ff 0900 00 00 01 03")
    script.expectTold(.periodic(train, .received(PeriodicPacket(data: [3], rssi: nil))))
  }

  @Test func aResponseIsSentAndTheControllerTellsWhetherItWasInTime() throws {
    var script = try following()
    let response = TrainResponse(to: SubeventPlace(event: 7, subevent: 2), subevent: 3, slot: 5, data: [1, 2])
    script.give(.train(1, .respond(response, to: train)))
    try script.command("8320 0a 0100 0700 02 03 05 02 0102", returns: "0100")
    #expect(try answer(1, in: &script) == .success)
    script.give(.train(2, .respond(response, to: train)))
    try script.command("8320 0a 0100 0700 02 03 05 02 0102", status: 0x46, returns: "0100")
    #expect(try answer(2, in: &script) == .packetTooLate)
  }

  @Test("A train that is lost, unknown or not wanted any more has no subevents and gets no response")
  func unknown() throws {
    var script = try following()
    let response = TrainResponse(to: SubeventPlace(event: 7, subevent: 2), subevent: 2, slot: 5, data: [])
    try script.hear("3e 03 10 0100")
    try script.started("4420 0e 00 03 01 f5f4f3f2f1f0 0000 c800 00")
    _ = script.takeTold()
    script.give(.train(1, .receive([0], of: train)))
    #expect(try answer(1, in: &script) == .unknownAdvertisingIdentifier)
    script.give(.train(2, .respond(response, to: train)))
    #expect(try answer(2, in: &script) == .unknownAdvertisingIdentifier)
    script.give(.train(3, .receive([0], of: PeriodicTrain(address: train.address, sid: 4))))
    #expect(try answer(3, in: &script) == .unknownAdvertisingIdentifier)
    script.silent()
  }

  @Test func aTransferredTrainTellsItsSubevents() throws {
    var script = RadioScript<ExtendedFamily>(features: Self.features)
    try script.hear("3e 18 26 00 4000 0700 0100 03 01 f5f4f3f2f1f0 02 5000 00 04 14 04 14")
    var received = ReceivedTrain(train: train, interval: .milliseconds(100), phy: .le2M, serviceData: 7)
    received.subevents = subevents
    script.expectTold(.trainReceived(handle: 0x40, received))
    script.give(.wantSync(train, SyncParameters(timeout: .seconds(2))))
    script.give(.train(1, .receive([3], of: train)))
    try script.command("8420 06 0100 0000 01 03", returns: "0100")
  }
}
