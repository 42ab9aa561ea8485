import HCI

/// The room for packets from a controller that sends only as many as fit (flow control from controller to host, Core
/// 5.4, Vol 4, Part E, 4.2). A link that is not read keeps its packets' room: its device is slowed.
///
/// | Link | Input                           | Then                                                               |
/// |------|---------------------------------|--------------------------------------------------------------------|
/// | read | a packet                        | its room is free: reported with others, a quarter of all at once   |
/// | held | a packet                        | its room is taken, up to the link's share; beyond that free        |
/// | held | `read`                          | all its room is free                                               |
/// | held | another link begins             | the room beyond its smaller share is free                          |
/// | held | `relieve`, when no room is left | the room of some packets is free                                   |
/// | any  | `end`                           | the controller has forgotten the link, and counts its room as free |
///
/// All links share the room: a single link may use all of it; several may use half of it together, so none stops the
/// others. Further packets are kept by the link as far as it can. Without any room a Zephyr controller reports no other
/// link either, so it receives some from time to time.
///
/// Each link has its own command: the controller drops the rest of a command after a link that has just ended.
package struct HostBuffers {
  /// The room for all links, in packets.
  package static let packets = 64
  /// Packets reported at once.
  private static let batch = packets / 4
  /// As many packets of each held link are let go when no room is left.
  private static let relief = 4

  private struct Link {
    /// The packets that keep their room.
    var held = 0
    /// The packets whose free room is not reported to the controller yet.
    var free = 0
  }

  private var links: [ConnectionHandle: Link] = [:]
  private var free = 0

  package init() {}

  /// Packets of one link that may keep their room.
  private var share: Int { links.count > 1 ? Self.packets / 2 / links.count : Self.packets }

  /// True if the controller may send nothing more.
  package var isExhausted: Bool { links.values.reduce(0) { $0 + $1.held + $1.free } >= Self.packets }

  package mutating func begin(_ handle: ConnectionHandle) {
    end(handle)
    links[handle] = Link()
    for (handle, link) in links where link.held > share { release(handle, link.held - share) }
  }

  package mutating func end(_ handle: ConnectionHandle) {
    guard let link = links.removeValue(forKey: handle) else { return }
    free -= link.free
  }

  /// A packet was received.
  /// - Parameter isHeld: true if the link is not read.
  package mutating func received(on handle: ConnectionHandle, isHeld: Bool) {
    links[handle]?.held += 1
    guard let held = links[handle]?.held else { return }
    if !isHeld { release(handle, held) } else if held > share { release(handle, 1) }
  }

  /// A link's packets have been read.
  package mutating func read(_ handle: ConnectionHandle) { release(handle, links[handle]?.held ?? 0) }

  /// Lets the controller send a few packets though the links are not read.
  package mutating func relieve() -> [HostNumberOfCompletedPackets] {
    for (handle, link) in links { release(handle, min(link.held, Self.relief)) }
    return report()
  }

  private mutating func release(_ handle: ConnectionHandle, _ count: Int) {
    links[handle]?.held -= count
    links[handle]?.free += count
    if links[handle] != nil { free += count }
  }

  /// The room to report to the controller now, by link; nothing while there is too little.
  package mutating func take() -> [HostNumberOfCompletedPackets] { free >= Self.batch ? report() : [] }

  private mutating func report() -> [HostNumberOfCompletedPackets] {
    free = 0
    return links.filter { $0.value.free > 0 }.map { handle, link in
      links[handle]?.free = 0
      return HostNumberOfCompletedPackets(link.free, on: handle)
    }
  }
}

extension HostNumberOfCompletedPackets {
  /// Reports so many packets of one link.
  package init(_ count: Int, on handle: ConnectionHandle) {
    self.init {
      $0.links = [
        Link {
          $0.handle = handle
          $0.packets = UInt16(clamping: count)
        }
      ]
    }
  }
}
