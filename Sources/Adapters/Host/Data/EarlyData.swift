import Bluetooth
import HCI

/// Keeps data of links that are not known yet: events and data come over different pipes of a controller, and the first
/// packets of a device may overtake the event that the link is there.
///
/// At most 8 packets of each of 4 handles are kept, for 1 s. Data beyond that are dropped. So are the data of a handle
/// that arrive in the 10 ms after its link has ended: they may be its last ones, which the event has overtaken by the
/// time that a packet takes through its pipe. No device that connects anew is faster.
package struct EarlyData {
  private static let handles = 4
  private static let packets = 8
  private static let time = Duration.seconds(1)
  private static let rest = Duration.milliseconds(10)

  private struct Entry {
    var since: Instant
    var packets: [ACLDataPacket]
  }

  private var entries: [ConnectionHandle: Entry] = [:]
  /// When the links ended that did so lately.
  private var ends: [ConnectionHandle: Instant] = [:]

  package init() {}

  /// Keeps a packet of a handle that no link has, and which arrived at this time.
  /// - Returns: the packets that were dropped, this one among them if there was no room.
  package mutating func keep(_ packet: ACLDataPacket, at now: Instant) -> [ACLDataPacket] {
    let old = expire(at: now)
    if let end = ends[packet.handle], end.duration(to: now) < Self.rest { return old + [packet] }
    guard let kept = entries[packet.handle]?.packets.count else {
      guard entries.count < Self.handles else { return old + [packet] }
      entries[packet.handle] = Entry(since: now, packets: [packet])
      return old
    }
    guard kept < Self.packets else { return old + [packet] }
    entries[packet.handle]?.packets.append(packet)
    return old
  }

  /// The link came up.
  /// - Returns: its packets, in order, and the ones of all handles that were kept for too long.
  package mutating func take(
    _ handle: ConnectionHandle, at now: Instant
  ) -> (packets: [ACLDataPacket], dropped: [ACLDataPacket]) {
    let old = expire(at: now)
    return (entries.removeValue(forKey: handle)?.packets ?? [], old)
  }

  /// A link of this handle has ended: no packet of it may come to a later one.
  package mutating func ended(_ handle: ConnectionHandle, at now: Instant) {
    entries[handle] = nil
    ends = ends.filter { $0.value.duration(to: now) < Self.rest }
    ends[handle] = now
  }

  /// When `expire` is due.
  package var deadline: Instant? { entries.values.map(\.since).min()?.advanced(by: Self.time) }

  /// - Returns: the packets that were kept for too long, and are dropped.
  package mutating func expire(at now: Instant) -> [ACLDataPacket] {
    guard !entries.isEmpty else { return [] }
    let old = entries.filter { $0.value.since.duration(to: now) >= Self.time }
    for handle in old.keys { entries[handle] = nil }
    return old.values.flatMap(\.packets)
  }
}
