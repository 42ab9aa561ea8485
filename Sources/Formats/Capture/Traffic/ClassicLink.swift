import Bluetooth
import HCI

/// A new link on the classic transport: Connection Complete (Core 5.4, Vol 4, Part E, 7.7.3).
struct ClassicLink {
  var handle: UInt16

  private static let connectionComplete: UInt8 = 0x03

  /// Reads the event; nil for any other, and for a failed link.
  init?(_ event: EventPacket) {
    guard event.code == Self.connectionComplete, event.parameters.first == 0,
      let handle = event.parameters[...].little16(at: 1)
    else { return nil }
    self.handle = handle
  }
}
