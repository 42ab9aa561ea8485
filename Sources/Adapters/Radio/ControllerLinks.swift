import Bluetooth
import HCI

/// A controller's links according to its events, and their ends.
///
/// A link ends with Disconnection Complete. It is also given up when the controller answers Disconnect with Unknown
/// Connection Identifier, when Disconnection Complete does not follow, and when its handle is used for another link:
/// otherwise its device could not be connected again.
///
/// | Link    | Input                                          | Then                                                |
/// |---------|------------------------------------------------|-----------------------------------------------------|
/// | none    | `began`                                        | there, unless `refusal` has a reason                |
/// | there   | `began` under the same handle                  | there; the earlier one has ended unheard            |
/// | there   | Disconnect was answered                        | leaving; none if the controller does not know it    |
/// | leaving | 5 s, and 1 s more than its supervision timeout | `overdue`; the owner ends it                        |
/// | any     | `ended`                                        | none                                                |
/// | any     | `doubt`                                        | doubted: none if it is not among those of `compare` |
struct ControllerLinks {
  private struct Link {
    /// Nil if not reported by the controller.
    let peer: DeviceAddress?
    let side: ActivityTurns.LinkSide
    /// Nil if not reported by the controller.
    var supervisionTimeout: Duration?

    /// The time for Disconnection Complete after Disconnect: a device out of range does not acknowledge the end, and
    /// until its supervision timeout the controller keeps the link's data.
    var departure: Duration { max(.seconds(5), (supervisionTimeout ?? .zero) + .seconds(1)) }
  }

  /// The maximum number of links: more than controllers have.
  static let limit = 256
  /// The highest handle for a link (Core 5.4, Vol 4, Part E, 5.3).
  static let lastHandle: ConnectionHandle = 0x0EFF

  private var links: [UInt16: Link] = [:]
  /// The links that the controller is disconnecting for us, with their deadlines.
  private var leaving: [UInt16: Instant] = [:]
  /// The links that may have ended without an event.
  private var doubted: Set<UInt16> = []
  /// When a link was established or ended.
  private var lastChange: Instant?

  var isEmpty: Bool { links.isEmpty }
  /// Our sides on them.
  var sides: Set<ActivityTurns.LinkSide> { Set(links.values.map(\.side)) }
  /// Their handles.
  var handles: [UInt16] { links.keys.sorted() }
  /// The devices on them.
  var peers: [DeviceAddress] { links.values.compactMap(\.peer) }
  /// The time to call `overdue`.
  var deadline: Instant? { leaving.values.min() }

  /// True if a link was established or ended less than a second ago.
  func haveJustChanged(at now: Instant) -> Bool {
    lastChange.map { $0.duration(to: now) < .seconds(1) } ?? false
  }

  func contains(_ handle: UInt16) -> Bool { links[handle] != nil }

  /// The reason for refusing a link with this handle; nil if it can be kept.
  func refusal(of handle: UInt16) -> ControllerFailure? {
    guard handle <= Self.lastHandle else { return .invalidHandle(handle) }
    return links.count < Self.limit || contains(handle) ? nil : .tooManyLinks
  }

  /// A link was established, and no other has its handle.
  /// - Parameter supervisionTimeout: nil if it is not known.
  mutating func began(
    _ handle: UInt16, _ peer: DeviceAddress?, _ side: ActivityTurns.LinkSide, supervisionTimeout: Duration?,
    at now: Instant
  ) {
    lastChange = now
    links[handle] = Link(peer: peer, side: side, supervisionTimeout: supervisionTimeout)
  }

  /// A link's parameters changed.
  mutating func updated(_ handle: UInt16, supervisionTimeout: Duration) {
    links[handle]?.supervisionTimeout = supervisionTimeout
  }

  /// A link has ended, or is given up.
  /// - Returns: if there was one, and its device if no other link has that.
  mutating func ended(_ handle: UInt16) -> (wasThere: Bool, free: DeviceAddress?) {
    leaving[handle] = nil
    doubted.remove(handle)
    guard let link = links.removeValue(forKey: handle) else { return (false, nil) }
    return (true, link.peer.flatMap { peers.contains($0) ? nil : $0 })
  }

  /// The controller reported a link's end.
  mutating func endWasTold(at now: Instant) { lastChange = now }

  /// The controller is disconnecting a link.
  mutating func isLeaving(_ handle: UInt16, at now: Instant) {
    if let link = links[handle] { leaving[handle] = now.advanced(by: link.departure) }
  }

  /// The links whose end is overdue; each is returned once.
  mutating func overdue(at now: Instant) -> [UInt16] {
    let handles = leaving.filter { $0.value <= now }.keys.sorted()
    for handle in handles { leaving[handle] = nil }
    return handles.filter(contains)
  }

  /// Some may have ended unheard.
  mutating func doubt() { doubted = Set(links.keys) }

  /// Compares the links in doubt with the existing ones.
  /// - Returns: the handles of links that ended without an event, and the links that began without one.
  mutating func compare(_ existing: [ExistingLink]) -> (ended: [UInt16], began: [ExistingLink]) {
    let ended = doubted.sorted().filter { handle in
      guard let known = links[handle] else { return false }
      return !existing.contains { $0.handle == handle && (known.peer.map($0.mayBe) ?? true) }
    }
    doubted = []
    return (ended, existing.filter { !contains($0.handle) || ended.contains($0.handle) })
  }

  /// The controller was reset.
  mutating func reset() {
    links = [:]
    leaving = [:]
    doubted = []
  }
}
