/// The packets of one link that have not left the controller, which drops them when it executes Disconnect.
///
/// ACL data packets are counted. Packets that the kernel sends on other channels are completed too, and are not known
/// here: while there are any, a link may end a little too early.
package struct PacketsInFlight {
  /// The L2CAP header of the first fragment (Core 5.4, Vol 3, Part A, 3.1).
  private static let header = 4

  /// The octets of one ACL data packet.
  private let fragment: Int
  /// The ACL data packets that have not left the controller.
  package private(set) var count = 0

  /// - Parameter fragment: how many octets one ACL data packet carries; nil if that is not known, which counts every
  ///   packet as one.
  package init(fragment: Int?) { self.fragment = max(1, fragment ?? .max) }

  /// An ATT packet of so many octets was given to the kernel.
  package mutating func sent(_ octets: Int) {
    let length = octets + Self.header
    count += length / fragment + (length % fragment > 0 ? 1 : 0)
  }

  /// Number Of Completed Packets (Core 5.4, Vol 4, Part E, 7.7.19).
  package mutating func completed(_ packets: Int) { count = max(0, count - packets) }
}
