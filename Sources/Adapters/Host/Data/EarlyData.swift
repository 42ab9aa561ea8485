import Bluetooth
import HCI

/// Keeps data for links not known yet: events and data use different pipes of a controller, and a device's first
/// packets may overtake the link's event.
///
/// At most 8 packets for each of 4 handles are kept, for 1 s. Further data is dropped, and so is data for a handle in
/// the 10 ms after its link's end: it may be the link's last data, overtaken by the event. No device reconnects faster.
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
  /// When links recently ended.
  private var ends: [ConnectionHandle: Instant] = [:]

  package init() {}

  /// Keeps a packet for a handle without a link, with its time of arrival.
  /// - Returns: the dropped packets, including this one if there was no room.
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

  /// The link was established.
  /// - Returns: its packets, in order, and all handles' expired ones.
  package mutating func take(
    _ handle: ConnectionHandle, at now: Instant
  ) -> (packets: [ACLDataPacket], dropped: [ACLDataPacket]) {
    let old = expire(at: now)
    return (entries.removeValue(forKey: handle)?.packets ?? [], old)
  }

  /// A link with this handle has ended: its packets must not reach a later one.
  package mutating func ended(_ handle: ConnectionHandle, at now: Instant) {
    entries[handle] = nil
    ends = ends.filter { $0.value.duration(to: now) < Self.rest }
    ends[handle] = now
  }

  /// When `expire` is due.
  package var deadline: Instant? { entries.values.map(\.since).min()?.advanced(by: Self.time) }

  /// - Returns: the expired packets, which are dropped.
  package mutating func expire(at now: Instant) -> [ACLDataPacket] {
    guard !entries.isEmpty else { return [] }
    let old = entries.filter { $0.value.since.duration(to: now) >= Self.time }
    for handle in old.keys { entries[handle] = nil }
    return old.values.flatMap(\.packets)
  }
}
