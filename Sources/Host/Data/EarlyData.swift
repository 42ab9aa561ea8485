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
  /// - Returns: false if it was dropped.
  package mutating func keep(_ packet: ACLDataPacket, at now: Instant) -> Bool {
    for (handle, entry) in entries where Self.isOver(entry, at: now) { drop(handle) }
    guard let kept = entries[packet.handle]?.packets.count else {
      guard entries.count < Self.handles else { return false }
      entries[packet.handle] = Entry(since: now, packets: [packet])
      return true
    }
    guard kept < Self.packets else { return false }
    entries[packet.handle]?.packets.append(packet)
    return true
  }

  /// The link came up: its packets, in order.
  package mutating func take(_ handle: ConnectionHandle, at now: Instant) -> [ACLDataPacket] {
    if let entry = entries[handle], Self.isOver(entry, at: now) { drop(handle) }
    return entries.removeValue(forKey: handle)?.packets ?? []
  }

  /// A link of this handle has ended: no packet of it may come to a later one.
  package mutating func drop(_ handle: ConnectionHandle) { entries[handle] = nil }

  private static func isOver(_ entry: Entry, at now: Instant) -> Bool { entry.since.duration(to: now) >= time }
}
