import Bluetooth
import HCI

/// Keeps data of links that are not known yet: events and data come over different pipes of a controller, and the first
/// packets of a device may overtake the event that the link is there.
///
/// At most 8 packets of each of 4 handles are kept, for 1 s. Data beyond that are dropped.
package struct EarlyData {
  private static let handles = 4
  private static let packets = 8
  private static let time = Duration.seconds(1)

  private struct Entry {
    var since: Instant
    var packets: [ACLDataPacket]
  }

  private var entries: [ConnectionHandle: Entry] = [:]

  package init() {}

  /// Keeps a packet of a handle that no link has.
  /// - Returns: the packets that were dropped, this one among them if there was no room.
  package mutating func keep(_ packet: ACLDataPacket, at now: Instant) -> [ACLDataPacket] {
    let old = expire(at: now)
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
  /// - Returns: its packets, in order, and the ones of all handles that were dropped.
  package mutating func take(
    _ handle: ConnectionHandle, at now: Instant
  ) -> (packets: [ACLDataPacket], dropped: [ACLDataPacket]) {
    let old = expire(at: now)
    return (entries.removeValue(forKey: handle)?.packets ?? [], old)
  }

  /// A link of this handle has ended: no packet of it may come to a later one.
  package mutating func drop(_ handle: ConnectionHandle) { entries[handle] = nil }

  private mutating func expire(at now: Instant) -> [ACLDataPacket] {
    guard !entries.isEmpty else { return [] }
    let old = entries.filter { $0.value.since.duration(to: now) >= Self.time }
    for handle in old.keys { entries[handle] = nil }
    return old.values.flatMap(\.packets)
  }
}
