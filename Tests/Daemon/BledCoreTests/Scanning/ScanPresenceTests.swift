import Bluetooth
import Testing

@testable import BledCore

/// Which devices a scan has in its range: the machine.
@Suite struct ScanPresenceTests {
  private typealias Presence = ScanPresence<Int>
  private let start = Instant(nanoseconds: 1_000_000)

  private func after(_ seconds: Int) -> Instant { start.advanced(by: .seconds(seconds)) }

  private func presence(entry: Int? = nil, exit: Int? = nil, seconds: Int? = nil) throws -> Presence {
    Presence(gate: try SignalGate(entry: entry, exit: exit), timeout: seconds.map { .seconds($0) })
  }

  @Test func hysteresis() throws {
    var presence = try presence(entry: -70, exit: -80)
    let heard = [-75, -70, -80, -81, -80, -71, -69, nil, -80, -90, nil].map {
      presence.received(1, rssi: $0, at: start)
    }
    #expect(heard.map(\.isIn) == [false, true, true, false, false, false, true, true, true, false, false])
    #expect(heard.map(\.leaves) == [false, false, false, true, false, false, false, false, false, true, false])
    #expect(presence.deadline == nil && heard.allSatisfy { $0.lost == nil })
  }

  @Test func aSilentDeviceIsLostOnce() throws {
    var presence = try presence(seconds: 10)
    #expect(presence.deadline == nil)
    #expect(presence.received(1, rssi: nil, at: start) == .init(isIn: true))
    _ = presence.received(2, rssi: -50, at: after(1))
    _ = presence.received(1, rssi: -50, at: after(4))
    // A deadline that is too early costs a look, and nothing moves an alarm.
    #expect(presence.deadline == after(10))
    #expect(presence.tick(at: after(10)).isEmpty)
    #expect(presence.deadline == after(11))
    #expect(presence.tick(at: after(11)) == [.init(device: 2, lastHeard: after(1))])
    #expect(presence.tick(at: after(13)).isEmpty)
    #expect(presence.tick(at: after(14)) == [.init(device: 1, lastHeard: after(4))])
    #expect(presence.deadline == nil && presence.tick(at: after(100)).isEmpty)
    #expect(presence.received(1, rssi: nil, at: after(101)) == .init(isIn: true))
    #expect(presence.deadline == after(111))
  }

  @Test("A device that becomes too weak counts as unheard, and is lost after the time")
  func weak() throws {
    var presence = try presence(entry: -70, exit: -80, seconds: 10)
    _ = presence.received(1, rssi: -70, at: start)
    #expect(presence.received(1, rssi: -81, at: after(5)) == .init(isIn: false, leaves: true))
    #expect(presence.received(1, rssi: -75, at: after(6)) == .init(isIn: false))
    #expect(presence.received(2, rssi: -75, at: after(6)) == .init(isIn: false))
    #expect(presence.tick(at: after(10)) == [.init(device: 1, lastHeard: start)])
    // Without hysteresis a weak advertisement is only ignored.
    var plain = try self.presence(entry: -70, seconds: 10)
    _ = plain.received(1, rssi: -70, at: start)
    #expect(plain.received(1, rssi: -71, at: after(1)) == .init(isIn: false))
    #expect(plain.received(1, rssi: -70, at: after(2)) == .init(isIn: true))
    #expect(plain.tick(at: after(11)).isEmpty && plain.deadline == after(12))
  }

  @Test("Of too many the one that was heard longest ago is lost to make room")
  func bound() throws {
    var presence = try presence(seconds: 100)
    for device in 0..<Presence.limit { _ = presence.received(device, rssi: nil, at: start) }
    _ = presence.received(0, rssi: nil, at: after(1))
    for device in 2..<Presence.limit { _ = presence.received(device, rssi: nil, at: after(2)) }
    #expect(presence.received(-1, rssi: nil, at: after(3)).lost == .init(device: 1, lastHeard: start))
    #expect(presence.received(-2, rssi: nil, at: after(3)).lost == .init(device: 0, lastHeard: after(1)))
    #expect(presence.tick(at: after(102)).count == Presence.limit - 2)
    #expect(presence.tick(at: after(103)).map(\.device).sorted() == [-2, -1])
    // Without a time no session is notified.
    var near = try self.presence(entry: -70, exit: -80)
    for device in 0..<Presence.limit { _ = near.received(device, rssi: -70, at: start) }
    #expect(near.received(-1, rssi: -70, at: start) == .init(isIn: true))
    #expect(near.received(1, rssi: -75, at: start) == .init(isIn: false))
  }

  @Test func aLossThatCouldNotBeToldComesAgain() throws {
    var presence = try presence(seconds: 10)
    _ = presence.received(1, rssi: nil, at: start)
    let lost = presence.tick(at: after(10))
    #expect(lost.count == 1)
    for loss in lost { presence.postpone(loss, at: after(10)) }
    #expect(presence.deadline == after(20))
    #expect(presence.tick(at: after(20)).map(\.device) == [1])
    presence.postpone(lost[0], at: after(20))
    _ = presence.received(1, rssi: nil, at: after(25))
    #expect(presence.tick(at: after(30)).isEmpty && presence.deadline == after(35))
    presence.removeAll()
    #expect(presence.deadline == nil)
  }

  @Test func thresholdsThatDoNotFit() {
    #expect(throws: BluetoothError.self) { try SignalGate(entry: nil, exit: -80) }
    #expect(throws: BluetoothError.self) { try SignalGate(entry: -80, exit: -79) }
    #expect(throws: Never.self) { try SignalGate(entry: -80, exit: -80) }
  }
}
