import Bluetooth
import Fuzzing
import HCI

/// An `EarlyData` beside an account of the packets in it: each is given to its link, in order, or dropped, once and
/// for a reason.
struct CheckedEarlyData {
  private struct Entry {
    let since: Instant
    var packets: [ACLDataPacket]
  }

  private var early = EarlyData()
  private var entries: [ConnectionHandle: Entry] = [:]
  private var ends: [ConnectionHandle: Instant] = [:]

  /// When `expire` is due.
  var deadline: Instant? { early.deadline }

  mutating func keep(_ packet: ACLDataPacket, at now: Instant) {
    var dropped = early.keep(packet, at: now)
    let old = expectedExpired(at: now)
    let isLate = ends[packet.handle].map { $0.duration(to: now) < .milliseconds(10) } ?? false
    let hasRoom = entries[packet.handle].map { $0.packets.count < 8 } ?? (entries.count < 4)
    if !isLate, hasRoom {
      entries[packet.handle, default: Entry(since: now, packets: [])].packets.append(packet)
    } else {
      invariant(dropped.last == packet, "\(packet) is neither kept nor dropped")
      dropped.removeLast()
    }
    check(dropped, old)
    checkDeadline()
  }

  /// - Returns: the packets for a link that came up.
  mutating func take(_ handle: ConnectionHandle, at now: Instant) -> [ACLDataPacket] {
    let (packets, dropped) = early.take(handle, at: now)
    check(dropped, expectedExpired(at: now))
    let expected = entries.removeValue(forKey: handle)?.packets ?? []
    invariant(packets == expected, "link \(handle) gets \(packets), not \(expected)")
    checkDeadline()
    return packets
  }

  mutating func ended(_ handle: ConnectionHandle, at now: Instant) {
    early.ended(handle, at: now)
    entries[handle] = nil
    ends[handle] = now
    checkDeadline()
  }

  mutating func expire(at now: Instant) {
    let dropped = early.expire(at: now)
    check(dropped, expectedExpired(at: now))
    checkDeadline()
  }

  /// Takes out of the account what has been kept for 1 s.
  private mutating func expectedExpired(at now: Instant) -> [ConnectionHandle: [ACLDataPacket]] {
    let old = entries.filter { $0.value.since.duration(to: now) >= .seconds(1) }
    for handle in old.keys { entries[handle] = nil }
    return old.mapValues(\.packets)
  }

  private func check(_ dropped: [ACLDataPacket], _ expected: [ConnectionHandle: [ACLDataPacket]]) {
    guard !dropped.isEmpty || !expected.isEmpty else { return }
    invariant(Dictionary(grouping: dropped, by: \.handle) == expected, "\(dropped) are dropped, not \(expected)")
  }

  private func checkDeadline() {
    let expected = entries.values.map(\.since).min()?.advanced(by: .seconds(1))
    invariant(early.deadline == expected, "the deadline is \(String(describing: early.deadline)), not of the oldest")
  }
}
