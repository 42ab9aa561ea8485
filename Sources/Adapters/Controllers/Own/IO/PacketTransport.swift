import Bluetooth
import EventLoop

/// A way to a controller. Its packets begin with the octet of their type, as in H4.
protocol PacketTransport: AnyObject {
  /// Called on the event loop, not from inside a call.
  var onEvent: ((TransportEvent) -> Void)? { get set }
  /// When the packet that is being told arrived in this machine; nil if that is not known.
  var arrival: Instant? { get }
  /// The known reason why the controller may not answer; nil if there is none.
  var obstacle: String? { get }
  /// Starts to read, or to wait for the other end.
  func start() throws(SystemError)
  /// Sends a packet, at once or when there is room.
  func send(_ packet: [UInt8])
  /// Has reports of transmitted packets (Number Of Completed Packets) told at once, or withheld, as they are from the
  /// start: then they wake up nothing, and wait for `takeCompletions`.
  /// - Returns: whether they are told at once: always where they cannot be withheld.
  func awaitCompletions(_ isAwaited: Bool) -> Bool
  /// Takes the reports that wait. They are not to be taken from inside of `body`.
  /// - Parameter most: how many there can be, 1 or more. A few more may be taken; others stay for the next time.
  func takeCompletions(_ most: Int, _ body: (ArraySlice<UInt8>) -> Void)
  func close()
}

/// The events of a transport.
enum TransportEvent {
  /// The controller's end accepted: packets may be sent.
  case opened
  case packet([UInt8])
  /// So many octets before the first packet mean nothing.
  case skipped(Int)
  /// Nothing comes any more, for this reason.
  case ended(String)
  /// There is nothing at the other end, or it is not ours.
  case refused(SystemError)
}
