import Adapter
import Bluetooth
import BluetoothCrypto
import HCI
import Radio
import Testing

@testable import Host

@Suite struct OwnAddressesTests {
  private let key = Key128(0x1234)
  private let set = AdvertisingSetID(7)
  private var random = SystemRandomNumberGenerator()

  /// One that is in use, and its first address.
  private mutating func begun() -> (OwnAddresses, DeviceAddress) {
    var addresses = OwnAddresses(key: key, rotation: .seconds(900))
    let first = addresses.begin(.none, at: .zero, using: &random)
    return (addresses, first)
  }

  /// One whose activities pause.
  private mutating func pausing() -> (OwnAddresses, DeviceAddress) {
    var (addresses, first) = begun()
    #expect(addresses.tick(at: at(900)) == [.pauseIsDue])
    addresses.pause(at: at(900))
    return (addresses, first)
  }

  private func at(_ seconds: Int) -> Instant { .zero.advanced(by: .seconds(seconds)) }

  @Test mutating func anAddressIsReplacedWhenItWasUsedForLongEnough() throws {
    var (addresses, first) = begun()
    #expect(first.isResolved(by: key))
    #expect(addresses.deadline == at(900))
    #expect(addresses.tick(at: at(899)) == [])
    #expect(!addresses.isPausing)
    #expect(addresses.tick(at: at(900)) == [.pauseIsDue])
    // The owner decides; it is asked once.
    #expect(addresses.deadline == nil && addresses.tick(at: at(901)) == [])
    addresses.pause(at: at(901))
    #expect(addresses.isPausing)
    let actions = addresses.quiet(at: at(901), using: &random)
    guard case .set(let second) = actions.first else {
      Issue.record("\(actions)")
      return
    }
    #expect(second != first && second.isResolved(by: key))
    #expect(addresses.answered(.taken, at: at(902)) == [.resume(second, scanEnded: false, ended: [])])
    #expect(!addresses.isPausing && addresses.deadline == at(902 + 900))
  }

  @Test mutating func theLastAddressStaysWhereTheControllerTakesNoOther() {
    var (refused, first) = pausing()
    _ = refused.quiet(at: at(901), using: &random)
    #expect(refused.answered(.refused, at: at(901)) == [.resume(first, scanEnded: false, ended: [])])
    #expect(refused.deadline == at(961))

    var (busy, same) = pausing()
    #expect(busy.deadline == at(905))
    #expect(busy.tick(at: at(905)) == [.resume(same, scanEnded: false, ended: [])])
    // Quiet comes too late.
    #expect(busy.quiet(at: at(901), using: &random) == [])
    #expect(busy.answered(.taken, at: at(906)) == [])
  }

  @Test mutating func theLastAddressIsSetAgainWhereTheControllerDoesNotAnswer() {
    var (addresses, first) = pausing()
    _ = addresses.quiet(at: at(901), using: &random)
    #expect(addresses.answered(.missing, at: at(906)) == [.set(first)])
    #expect(addresses.isPausing && addresses.deadline == nil)
    #expect(addresses.answered(.taken, at: at(907)) == [.resume(first, scanEnded: false, ended: [])])
    #expect(addresses.deadline == at(967))
  }

  @Test(arguments: [OwnAddresses.Answer.refused, .missing])
  mutating func aControllerWhoseAddressIsUnknownHasFailed(_ answer: OwnAddresses.Answer) {
    var (addresses, _) = pausing()
    _ = addresses.quiet(at: at(901), using: &random)
    _ = addresses.answered(.missing, at: at(906))
    #expect(addresses.answered(answer, at: at(911)) == [.failed])
    #expect(!addresses.isPausing && addresses.deadline == nil)
  }

  @Test mutating func endsForThePauseAreWithheld() {
    var (addresses, _) = begun()
    let early = addresses.withholds(.scanning(false))
    #expect(!early)
    #expect(addresses.tick(at: at(900)) == [.pauseIsDue])
    addresses.pause(at: at(900))
    let kept = [RadioAction.scanning(false), .advertising(set, .off)].map { addresses.withholds($0) }
    #expect(kept == [true, true])
    let told = [RadioAction.scanning(true), .advertising(set, .on(interval: .seconds(1)))].map {
      addresses.withholds($0)
    }
    #expect(told == [false, false])
    guard case .set(let second) = addresses.quiet(at: at(901), using: &random).first else {
      Issue.record("no address")
      return
    }
    #expect(addresses.answered(.taken, at: at(901)) == [.resume(second, scanEnded: true, ended: [set])])
    let late = addresses.withholds(.scanning(false))
    #expect(!late)
  }

  @Test mutating func aControllerThatIsGoneHasNoAddress() {
    var (addresses, _) = pausing()
    addresses.close()
    #expect(addresses.deadline == nil && !addresses.isPausing)
    #expect(addresses.quiet(at: at(901), using: &random) == [] && addresses.answered(.taken, at: at(901)) == [])
  }

  @Test mutating func theListIsChangedInAPauseBeforeTheAddress() throws {
    var (addresses, first) = begun()
    #expect(addresses.listChanged() == [.pauseIsDue])
    // The owner is asked once.
    #expect(addresses.listChanged() == [])
    addresses.pause(at: at(1))
    #expect(addresses.quiet(at: at(2), using: &random) == [.changeList])
    #expect(addresses.isPausing && addresses.deadline == nil)
    guard case .set(let second) = addresses.listed(at: at(3), using: &random).first else {
      Issue.record("no address")
      return
    }
    #expect(second != first)
    // The list changes again meanwhile.
    #expect(addresses.listChanged() == [])
    #expect(addresses.answered(.taken, at: at(4)) == [.resume(second, scanEnded: false, ended: [])])
    #expect(addresses.deadline == at(64))
    #expect(addresses.tick(at: at(64)) == [.pauseIsDue])
  }

  @Test mutating func anAddressThatIsNotPrivateStays() {
    let own = DeviceAddress(value: 0xC011_2233_4455, kind: .public)
    var addresses = OwnAddresses(key: nil, rotation: .zero)
    #expect(addresses.begin(own, at: .zero, using: &random) == own)
    #expect(addresses.deadline == nil)
    #expect(addresses.listChanged() == [.pauseIsDue])
    addresses.pause(at: at(2))
    #expect(addresses.quiet(at: at(2), using: &random) == [.changeList])
    #expect(addresses.listed(at: at(3), using: &random) == [.resume(own, scanEnded: false, ended: [])])
    #expect(addresses.deadline == nil && !addresses.isPausing)
    // A pause that takes too long is tried again.
    #expect(addresses.listChanged() == [.pauseIsDue])
    addresses.pause(at: at(10))
    #expect(addresses.tick(at: at(15)) == [.resume(own, scanEnded: false, ended: [])])
    #expect(addresses.tick(at: at(75)) == [.pauseIsDue])
  }
}
