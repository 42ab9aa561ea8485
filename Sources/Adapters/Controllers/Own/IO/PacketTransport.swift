import Bluetooth

/// A way to a controller. Its packets begin with the octet of their type, as in H4.
package protocol PacketTransport: AnyObject {
  /// Called on the scheduler's thread, not from inside a call.
  var onEvent: ((TransportEvent) -> Void)? { get set }
  /// The arrival time in this machine of the packet being delivered; nil if unknown.
  var arrival: Instant? { get }
  /// The known reason for the controller's silence; nil if there is none.
  var obstacle: String? { get }
  /// Starts to read, or to wait for the other end.
  func start() throws(SystemError)
  /// Sends a packet, at once or when there is room.
  func send(_ packet: [UInt8])
  /// Has reports of transmitted packets (Number Of Completed Packets) delivered at once, or withheld, as from the
  /// start: then they wake nothing, and wait for `takeCompletions`.
  /// - Returns: true if they are delivered at once: always if they cannot be withheld.
  func awaitCompletions(_ isAwaited: Bool) -> Bool
  /// Takes the withheld reports. Not to be called from inside `body`.
  /// - Parameter most: the maximum, 1 or more. A few more may be taken; others stay for the next call.
  func takeCompletions(_ most: Int, _ body: (ArraySlice<UInt8>) -> Void)
  func close()
}

/// The events of a transport.
package enum TransportEvent {
  /// The controller is present, and will accept packets later.
  case starting
  /// The controller's end accepted: packets may be sent.
  case opened
  case packet([UInt8])
  /// This number of meaningless octets preceded the first packet.
  case skipped(Int)
  /// The transport ended, for this reason.
  case ended(String)
  /// Nothing is at the other end, or it is not ours.
  case refused(SystemError)
}
