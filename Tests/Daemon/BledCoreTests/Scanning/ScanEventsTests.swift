import Bluetooth
import Testing

@testable import BledCore

/// Which advertisements wait for their scan responses, and until when.
@Suite struct ScanEventsTests {
  private let start = Instant(nanoseconds: 1_000_000)

  private func after(_ milliseconds: Int) -> Instant { start.advanced(by: .milliseconds(milliseconds)) }

  @Test func aScanResponseCompletesItsEvent() {
    var events = ScanEvents<Int>()
    #expect(events.advertisement(of: 1, mayBeAnswered: true, at: start) == nil)
    #expect(events.advertisement(of: 2, mayBeAnswered: true, at: after(1)) == nil)
    #expect(events.scanResponse(of: 1) == 1)
    #expect(events.deadline == after(31))
    #expect(events.scanResponse(of: 2) == 2)
    #expect(events.deadline == nil)
    // Late, or without an advertisement: an event of its own.
    #expect(events.scanResponse(of: 3) == 3)
  }

  @Test func theDeadlineEndsAnEvent() {
    var events = ScanEvents<Int>()
    #expect(events.advertisement(of: 1, mayBeAnswered: true, at: start) == nil)
    #expect(events.advertisement(of: 2, mayBeAnswered: true, at: after(10)) == nil)
    #expect(events.tick(at: after(29)) == [])
    #expect(events.tick(at: after(30)) == [1])
    #expect(events.tick(at: after(40)) == [2])
    #expect(events.deadline == nil)
  }

  @Test func theNextAdvertisementOfADeviceEndsItsEvent() {
    var events = ScanEvents<Int>()
    #expect(events.advertisement(of: 1, mayBeAnswered: true, at: start) == nil)
    #expect(events.advertisement(of: 1, mayBeAnswered: true, at: after(20)) == 1)
    #expect(events.deadline == after(50))
    #expect(events.advertisement(of: 1, mayBeAnswered: false, at: after(21)) == 1)
    #expect(events.deadline == nil)
    #expect(events.advertisement(of: 1, mayBeAnswered: false, at: after(22)) == nil)
  }

  @Test func theyAreBounded() {
    var events = ScanEvents<Int>()
    for device in 0..<ScanEvents<Int>.limit {
      #expect(events.advertisement(of: device, mayBeAnswered: true, at: start) == nil)
    }
    #expect(events.advertisement(of: 1000, mayBeAnswered: true, at: start) == 0)
    // One that waits makes room for itself.
    #expect(events.advertisement(of: 7, mayBeAnswered: true, at: start) == 7)
    #expect(events.tick(at: after(30)).count == ScanEvents<Int>.limit)
  }
}
