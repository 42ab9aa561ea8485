import Bluetooth
import Testing

@testable import BledCore

/// The presence of devices named by a scan: the machine.
@Suite struct NamedPresenceTests {
  private typealias Presence = NamedPresence<Int>
  private let start = Instant(nanoseconds: 1_000_000)

  private func after(_ seconds: Int) -> Instant { start.advanced(by: .seconds(seconds)) }

  private func presence(entry: Int? = nil, exit: Int? = nil) throws -> Presence {
    Presence(gate: try SignalGate(entry: entry, exit: exit), timeout: .seconds(10))
  }

  private func found(_ device: Int, _ seconds: Int) -> Presence.Change {
    .init(device: device, isThere: true, lastHeard: after(seconds))
  }

  private func lost(_ device: Int, _ seconds: Int) -> Presence.Change {
    .init(device: device, isThere: false, lastHeard: after(seconds))
  }

  @Test func aDeviceIsFoundOnceAndLostOnce() throws {
    var presence = try presence()
    #expect(presence.deadline == nil)
    #expect(presence.received(1, rssi: nil, at: start) == found(1, 0))
    for second in 1..<8 { #expect(presence.received(1, rssi: -50, at: after(second)) == nil) }
    #expect(presence.deadline == after(17) && presence.tick(at: after(16)).isEmpty)
    #expect(presence.tick(at: after(17)) == [lost(1, 7)])
    #expect(presence.deadline == nil && presence.devices.isEmpty)
    #expect(presence.received(1, rssi: nil, at: after(18)) == found(1, 18))
  }

  @Test func thresholds() throws {
    var presence = try presence(entry: -70, exit: -80)
    #expect(presence.received(1, rssi: -75, at: start) == nil && presence.devices.isEmpty)
    #expect(presence.received(1, rssi: -70, at: after(1)) == found(1, 1))
    _ = presence.received(1, rssi: -80, at: after(5))
    _ = presence.received(1, rssi: -81, at: after(9))
    #expect(presence.tick(at: after(15)) == [lost(1, 5)])
    #expect(presence.received(1, rssi: -75, at: after(16)) == nil)
  }

  @Test("While the controller watches no time runs but for devices that it has not confirmed")
  func monitorChanged() throws {
    var presence = try presence()
    _ = presence.received(1, rssi: nil, at: start)
    _ = presence.received(2, rssi: nil, at: start)
    presence.monitorChanged(true, at: after(5))
    #expect(presence.deadline == after(10))
    // One is reported at the beginning, the other one is away by now.
    #expect(presence.received(1, rssi: nil, at: after(6)) == nil)
    #expect(presence.tick(at: after(10)) == [lost(2, 0)])
    #expect(presence.deadline == nil)
    #expect(presence.monitorReported(2, isThere: false, at: after(16)) == nil)
    #expect(presence.monitorReported(2, isThere: true, at: after(20)) == found(2, 20))
    #expect(presence.monitorReported(2, isThere: true, at: after(21)) == nil && presence.deadline == nil)
    #expect(presence.monitorReported(1, isThere: false, at: after(100)) == lost(1, 90))
    // Again by the reports: the full time.
    presence.monitorChanged(false, at: after(200))
    presence.monitorChanged(false, at: after(205))
    #expect(presence.deadline == after(210) && presence.tick(at: after(210)) == [lost(2, 200)])
  }

  @Test("A scan that begins anew again and again puts off no loss: only the first time counts")
  func restarts() throws {
    var presence = try presence()
    presence.monitorChanged(true, at: start)
    _ = presence.received(1, rssi: nil, at: after(1))
    for second in [5, 8, 11, 14] {
      presence.monitorChanged(false, at: after(second))
      presence.monitorChanged(true, at: after(second))
    }
    #expect(presence.deadline == after(15) && presence.tick(at: after(15)) == [lost(1, 5)])
  }

  @Test("A change that could not be told is told a second later, and one that is undone before is none")
  func retries() throws {
    var presence = try presence()
    var change = presence.received(1, rssi: nil, at: start)
    presence.failed(try #require(change), at: start)
    #expect(presence.deadline == after(1) && presence.tick(at: after(1)) == [found(1, 0)])
    #expect(presence.deadline == after(10))
    change = presence.tick(at: after(10)).first
    presence.failed(try #require(change), at: after(10))
    #expect(presence.devices.count == 1 && presence.tick(at: after(11)) == [lost(1, 0)])
    #expect(presence.devices.isEmpty)
    // Found and lost before it could be reported.
    change = presence.received(1, rssi: nil, at: after(20))
    presence.failed(try #require(change), at: after(20))
    #expect(presence.monitorReported(1, isThere: false, at: after(20)) == nil && presence.deadline == nil)
    // Lost and found.
    _ = presence.received(1, rssi: nil, at: after(30))
    change = presence.monitorReported(1, isThere: false, at: after(31))
    presence.failed(try #require(change), at: after(31))
    #expect(presence.received(1, rssi: nil, at: after(31)) == nil && presence.deadline == after(41))
    presence.removeAll()
    #expect(presence.deadline == nil && presence.devices.isEmpty)
  }
}
