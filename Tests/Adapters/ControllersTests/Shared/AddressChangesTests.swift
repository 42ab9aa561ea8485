import Adapter
import Bluetooth
import Radio
import Testing

@testable import Controllers

@Suite struct AddressChangesTests {
  private let first = DeviceAddress(value: 0x5F11_2233_4455, kind: .random)
  private let second = DeviceAddress(value: 0x6F11_2233_4455, kind: .random)
  private let rotation = Duration.seconds(900)
  private let set = AdvertisingSetID(7)

  private func at(_ seconds: Int) -> Instant { .zero.advanced(by: .seconds(seconds)) }

  private func used(for time: Duration? = .seconds(900)) -> AddressChanges {
    var changes = AddressChanges()
    changes.begin(first, for: time, at: .zero)
    return changes
  }

  /// Activities that pause since 900 s.
  private func pausing() -> AddressChanges {
    var changes = used()
    #expect(changes.tick(at: at(900)) == [.pauseIsDue])
    changes.pause(at: at(900))
    return changes
  }

  private func unchanged(_ address: DeviceAddress) -> [AddressChanges.Action] {
    [.resume(address, scanEnded: false, ended: [])]
  }

  @Test func anAddressIsReplacedWhenItWasUsedForLongEnough() {
    var changes = used()
    #expect(changes.current == first && changes.deadline == at(900))
    #expect(changes.tick(at: at(899)) == [] && !changes.isPausing)
    #expect(changes.tick(at: at(900)) == [.pauseIsDue])
    // The owner decides; it is asked once.
    #expect(changes.deadline == nil && changes.tick(at: at(901)) == [])
    changes.pause(at: at(901))
    #expect(changes.isPausing && changes.deadline == at(906))
    #expect(changes.quiet() == [.change])
    #expect(changes.isPausing && changes.deadline == nil, "the time of the source, not that of the pause")
    #expect(changes.changed(to: second, for: rotation, at: at(902)) == unchanged(second))
    #expect(!changes.isPausing && changes.current == second && changes.deadline == at(902 + 900))
  }

  @Test func theLastAddressStaysWithoutAnother() {
    var changes = pausing()
    _ = changes.quiet()
    #expect(changes.changed(to: nil, for: .seconds(60), at: at(901)) == unchanged(first))
    #expect(changes.deadline == at(961) && changes.current == first)
  }

  @Test func thePauseEndsWithoutQuiet() {
    var changes = pausing()
    #expect(changes.deadline == at(905))
    #expect(changes.tick(at: at(905)) == unchanged(first))
    // Quiet is too late.
    #expect(changes.quiet() == [] && changes.changed(to: second, for: rotation, at: at(906)) == [])
    #expect(changes.deadline == at(965) && changes.tick(at: at(965)) == [.pauseIsDue])
  }

  @Test func aPauseThatWouldHarmALinkComesASecondLater() {
    var changes = used()
    _ = changes.tick(at: at(900))
    changes.postpone(at: at(900))
    #expect(!changes.isPausing && changes.tick(at: at(901)) == [.pauseIsDue])
  }

  @Test func endsForThePauseAreWithheld() {
    var changes = used()
    let early = changes.withholds(.scanning(false))
    #expect(!early)
    #expect(changes.tick(at: at(900)) == [.pauseIsDue])
    changes.pause(at: at(900))
    let ends = [RadioAction.scanning(false), .advertising(set, .off)].map { changes.withholds($0) }
    #expect(ends == [true, true])
    let others = [RadioAction.scanning(true), .advertising(set, .on(interval: .seconds(1))), .quiet]
    let withheld = others.map { changes.withholds($0) }
    #expect(withheld == [false, false, false])
    _ = changes.quiet()
    let actions = changes.changed(to: second, for: rotation, at: at(901))
    #expect(actions == [.resume(second, scanEnded: true, ended: [set])])
    let late = changes.withholds(.scanning(false))
    #expect(!late)
  }

  @Test func aControllerThatIsGoneHasNoAddress() {
    var changes = pausing()
    changes.close()
    let isWithheld = changes.withholds(.scanning(false))
    #expect(changes.deadline == nil && !changes.isPausing && !isWithheld)
    #expect(changes.quiet() == [] && changes.changed(to: second, for: rotation, at: at(901)) == [])
    #expect(changes.ask() == [])
  }

  @Test func aPauseThatIsWantedMeanwhileIsNext() {
    var changes = used()
    #expect(changes.ask() == [.pauseIsDue])
    // The owner is asked once.
    #expect(changes.ask() == [])
    changes.pause(at: at(1))
    #expect(changes.quiet() == [.change])
    #expect(changes.ask() == [])
    #expect(changes.changed(to: second, for: rotation, at: at(4)) == unchanged(second))
    #expect(changes.deadline == at(64) && changes.tick(at: at(64)) == [.pauseIsDue])
  }

  @Test func anAddressThatIsNotPrivateStays() {
    var changes = used(for: nil)
    #expect(changes.deadline == nil)
    #expect(changes.ask() == [.pauseIsDue])
    changes.pause(at: at(2))
    #expect(changes.quiet() == [.change])
    #expect(changes.changed(to: nil, for: nil, at: at(3)) == unchanged(first))
    #expect(changes.deadline == nil && !changes.isPausing)
    // A pause that takes too long is tried again.
    #expect(changes.ask() == [.pauseIsDue])
    changes.pause(at: at(10))
    #expect(changes.tick(at: at(15)) == unchanged(first))
    #expect(changes.tick(at: at(75)) == [.pauseIsDue])
  }
}
