import Adapter
import Bluetooth
import HCI
import Testing

@testable import Radio

/// Trains of periodic advertisements, as commands.
struct PeriodicAdvertisingTests {
  private let set = AdvertisingSetID(1)

  private func script(
    _ features: LEFeatures = .periodicAdvertising, length: Int = 1650
  ) -> RadioScript<ExtendedFamily> {
    RadioScript(sets: 4, features: features, advertisingDataLength: length)
  }

  private func parameters(_ octets: Int) -> AdvertisingParameters {
    var parameters = AdvertisingParameters(kind: .nonconnectable, data: [])
    parameters.isExtended = true
    parameters.periodic = PeriodicAdvertising(
      interval: .milliseconds(10), data: [UInt8](repeating: 9, count: octets), includesTxPower: true)
    return parameters
  }

  /// A train of three octets is on the air.
  private func running() throws -> RadioScript<ExtendedFamily> {
    var script = script()
    script.give(.wantAdvertising(set, parameters(3)))
    for _ in 0..<6 { try script.answer() }
    script.silent()
    script.expectTold(.advertising(set, .on(interval: .milliseconds(100))))
    return script
  }

  @Test func itBeginsWithItsSetAndEndsWithIt() throws {
    var script = script()
    script.give(.wantAdvertising(set, parameters(300)))
    try script.command("3620 19 00 0000 a00000 a00000 07 00 00 000000000000 00 7f 01 00 01 00 00", returns: "00")
    try script.command("3720 04 00 03 01 00")
    try script.command("3e20 07 00 0800 0800 4000")
    try script.command("3f20 fe 00 01 fb" + String(repeating: "09", count: 251))
    try script.command("3f20 34 00 02 31" + String(repeating: "09", count: 49))
    try script.command("3920 06 01 01 00 0000 00")
    script.expectTold()
    try script.command("4020 02 01 00")
    script.expectTold(.advertising(set, .on(interval: .milliseconds(100))))
    script.give(.wantAdvertising(set, nil))
    try script.command("3920 06 00 01 00 0000 00")
    try script.command("4020 02 00 00")
    try script.command("3c20 01 00")
    script.silent()
    script.expectTold(.advertising(set, .off))
  }

  @Test("The controller goes on with a train when the advertisements that announce it have ended: it is ended, too")
  func itEndsWithTheCount() throws {
    var script = try running()
    try script.hear("3e 06 12 43 00 0000 05")
    script.expectTold(.advertising(set, .ended(.count)))
    try script.command("4020 02 00 00")
    try script.command("3c20 01 00")
    script.silent()
  }

  @Test("A set that had a train is forgotten before it is another kind of set, and after the train was ended")
  func theSetIsUsedForOthers() throws {
    var script = try running()
    script.give(.wantAdvertising(set, AdvertisingParameters(data: [2, 1, 6])))
    try script.command("3920 06 00 01 00 0000 00")
    // Once: controllers refuse to end a train that is not there.
    try script.command("4020 02 00 00")
    try script.command("3c20 01 00")
    try script.command("3620 19 00 1300 a00000 a00000 07 00 00 000000000000 00 7f 01 00 01 00 00", returns: "00")
  }

  /// Answers everything for some turns.
  private func turns(_ script: inout RadioScript<ExtendedFamily>) throws {
    for _ in 0..<6 {
      while script.isAsked { try script.answer() }
      script.wait(AdvertisingRotation.turn)
    }
  }

  @Test("A train has no turns: others move together for it, and there is one for each set but their last")
  func itKeepsItsSet() throws {
    var script = RadioScript<ExtendedFamily>(sets: 2, features: .periodicAdvertising)
    let plain = AdvertisingParameters(data: [2, 1, 6])
    for number in UInt32(2)...3 { script.give(.wantAdvertising(AdvertisingSetID(number), plain)) }
    try turns(&script)
    _ = script.takeTold()
    script.give(.wantAdvertising(set, parameters(3)))
    try turns(&script)
    let told = script.takeTold()
    #expect(told.contains(.advertising(set, .on(interval: .milliseconds(100)))))
    #expect(told.contains(.advertising(AdvertisingSetID(2), .on(interval: .milliseconds(200)))))
    #expect(script.opcodes.count { $0 == LESetPeriodicAdvertisingEnable.opcode } == 1, "it was interrupted")
    script.give(.wantAdvertising(AdvertisingSetID(4), parameters(3)))
    guard case .advertising(AdvertisingSetID(4), .failed(let error))? = script.takeTold().last else {
      Issue.record("a second train was not refused")
      return
    }
    #expect(error.code == GAPError.advertisingSetsExhausted.rawValue && error.message.contains("train"), "\(error)")
    // After its end there is a place again.
    script.give(.wantAdvertising(AdvertisingSetID(4), nil))
    script.give(.wantAdvertising(set, nil))
    script.give(.wantAdvertising(AdvertisingSetID(4), parameters(3)))
    try turns(&script)
    #expect(script.takeTold().contains(.advertising(AdvertisingSetID(4), .on(interval: .milliseconds(100)))))
  }

  @Test("Where a train has the only set nothing else can be sent, and it does not begin beside others")
  func theOnlySet() throws {
    let plain = AdvertisingParameters(data: [2, 1, 6])
    for (first, second) in [(parameters(3), plain), (plain, parameters(3))] {
      var script = RadioScript<ExtendedFamily>(sets: 1, features: .periodicAdvertising)
      script.give(.wantAdvertising(set, first))
      try turns(&script)
      script.expectTold(.advertising(set, .on(interval: .milliseconds(100))))
      script.give(.wantAdvertising(AdvertisingSetID(2), second))
      guard case .advertising(AdvertisingSetID(2), .failed(let error))? = script.takeTold().last else {
        Issue.record("not refused")
        return
      }
      #expect(error.code == GAPError.advertisingSetsExhausted.rawValue && error.message.contains("stop"), "\(error)")
      try turns(&script)
      script.expectTold()
    }
  }

  @Test func afterDoubtItIsBegunAgain() throws {
    var script = try running()
    let before = script.opcodes.count
    script.give(.doubt)
    while script.isAsked { try script.answer() }
    let ofSets = script.opcodes[before...].filter { [0x2039, 0x2040].contains($0) }
    #expect(ofSets == [0x2039, 0x2039, 0x2040], "disable all, enable, enable the train")
  }

  @Test func whatTheControllerHasNotIsToldWithItsLimit() throws {
    let cases = [(script([]), 3, GAPError.notSupported), (script(length: 200), 201, .advertisingDataTooLong)]
    for (script, octets, expected) in cases {
      var script = script
      script.give(.wantAdvertising(set, parameters(octets)))
      script.silent()
      guard case .advertising(set, .failed(let error))? = script.takeTold().last else {
        Issue.record("not refused")
        return
      }
      #expect(error.domain == .gap && error.code == expected.rawValue, "\(error)")
    }
  }
}
