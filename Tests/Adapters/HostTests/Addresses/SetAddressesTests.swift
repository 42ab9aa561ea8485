import Bluetooth
import HCI
import Testing

@testable import Host

@Suite struct SetAddressesTests {
  private func parameters(_ handle: UInt8) -> CommandPacket {
    CommandPacket(LESetExtendedAdvertisingParameters { $0.advertisingHandle = handle })
  }

  private func address(_ handle: UInt8, _ value: UInt64) -> CommandPacket {
    CommandPacket(
      LESetAdvertisingSetRandomAddress {
        $0.advertisingHandle = handle
        $0.address = value
      })
  }

  @Test func theAddressesOfSetsAreThoseThatTheControllerWasGiven() {
    var sets = SetAddresses()
    for packet in [parameters(0), address(0, 0xC011_2233_4455), parameters(1)] { sets.sent(packet) }
    #expect(sets.address(of: 0) == DeviceAddress(value: 0xC011_2233_4455, kind: .random))
    #expect(sets.address(of: 1) == nil && sets.address(of: 2) == nil)
    #expect(sets.mayDiffer(from: DeviceAddress(value: 1, kind: .public)))
    #expect(!sets.mayDiffer(from: DeviceAddress(value: 0xC011_2233_4455, kind: .random)))
    // The set is set up again, with the public address.
    sets.sent(parameters(0))
    #expect(sets.address(of: 0) == nil && !sets.mayDiffer(from: DeviceAddress(value: 1, kind: .public)))
    for packet in [address(0, 0xC011_2233_4455), address(1, 0xC011_2233_4456)] { sets.sent(packet) }
    sets.sent(CommandPacket(LERemoveAdvertisingSet { $0.advertisingHandle = 0 }))
    #expect(sets.address(of: 0) == nil && sets.address(of: 1) != nil)
    sets.sent(CommandPacket(LEClearAdvertisingSets()))
    #expect(sets.address(of: 1) == nil)
  }

  @Test func theEndOfASetIsKeptForItsLink() {
    var sets = SetAddresses()
    let start = Instant.zero
    sets.sent(address(0, 0xC011_2233_4455))
    for link in UInt16(1)...5 { sets.ended(link == 2 ? 1 : 0, by: link, at: start) }
    #expect(sets.takeEnd(by: 1, at: start)?.address?.value == 0xC011_2233_4455)
    #expect(sets.takeEnd(by: 1, at: start) == nil)
    // The set has the public address.
    let end = sets.takeEnd(by: 2, at: start)
    #expect(end != nil && end?.address == nil)
    #expect(sets.takeEnd(by: 5, at: start) == nil, "four are kept at most")
    #expect(sets.takeEnd(by: 3, at: start.advanced(by: .milliseconds(999))) != nil)
    let late = start.advanced(by: .seconds(1))
    #expect(sets.takeEnd(by: 4, at: late) == nil, "too old")
    sets.ended(0, by: 6, at: late)
    #expect(sets.takeEnd(by: 6, at: late) != nil)
  }
}
