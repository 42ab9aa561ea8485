import Bluetooth

/// Delays the end of a link until its sent packets have left the controller: a controller drops packets that wait for a
/// connection event when it executes Disconnect.
///
/// | State   | Input                     | Outcome                                     |
/// |---------|---------------------------|---------------------------------------------|
/// | open    | `sent`, `completed`       | counted                                     |
/// | open    | `end`, nothing in flight  | disconnect now                              |
/// | open    | `end`, packets in flight  | leaving, until the deadline                 |
/// | leaving | `completed`, the last one | disconnect now                              |
/// | leaving | `tick` at the deadline    | disconnect now; packets in flight are lost  |
///
/// ACL data packets are counted. Packets that the kernel sends on other channels are completed too, and are not known
/// here: while there are any, a link may end a little too early.
package struct Departure {
  /// How long a link waits for its last packets.
  package static let timeout = Duration.seconds(1)
  /// The L2CAP header of the first fragment (Core 5.4, Vol 3, Part A, 3.1).
  private static let header = 4

  /// How many octets one ACL data packet carries.
  private let fragment: Int
  /// The ACL data packets that have not left the controller.
  package private(set) var inFlight = 0
  /// When `tick` is due; nil while the link is open.
  package private(set) var deadline: Instant?

  /// - Parameter fragment: how many octets one ACL data packet carries; nil if that is not known, which counts every
  ///   packet as one.
  package init(fragment: Int?) { self.fragment = max(1, fragment ?? .max) }

  /// An ATT packet of so many octets was given to the kernel.
  package mutating func sent(_ octets: Int) {
    let length = octets + Self.header
    inFlight += length / fragment + (length % fragment > 0 ? 1 : 0)
  }

  /// Number Of Completed Packets (Core 5.4, Vol 4, Part E, 7.7.19).
  /// - Returns: whether the link is to be disconnected now.
  package mutating func completed(_ packets: Int) -> Bool {
    inFlight = max(0, inFlight - packets)
    return deadline != nil && inFlight == 0
  }

  /// The link is to end.
  /// - Returns: whether it is to be disconnected now.
  package mutating func end(at now: Instant) -> Bool {
    deadline = now.advanced(by: Self.timeout)
    return inFlight == 0
  }

  /// - Returns: whether the link is to be disconnected now.
  package func tick(at now: Instant) -> Bool { deadline.map { $0 <= now } ?? false }
}
