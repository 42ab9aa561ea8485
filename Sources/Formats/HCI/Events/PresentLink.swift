import Bluetooth

/// A link in the events that a controller would send if the link were established now. By them a recording that begins
/// later than the link attributes its packets to its device.
package struct PresentLink: Hashable, Sendable {
  package var handle: ConnectionHandle
  /// The device at the other end.
  package var peer: DeviceAddress
  /// True if we are the central.
  package var isCentral: Bool
  package var interval = Duration.zero
  /// Events the peripheral may skip.
  package var latency = 0
  package var supervisionTimeout = Duration.zero
  package var isEncrypted = false

  /// Describes a link with unknown parameters.
  package init(_ handle: ConnectionHandle, to peer: DeviceAddress, isCentral: Bool) {
    (self.handle, self.peer, self.isCentral) = (handle, peer, isCentral)
  }

  /// Its establishment, and its encryption if it is encrypted.
  package var packets: [MonitorPacket] {
    let connection = LEConnectionComplete {
      $0.handle = handle
      $0.role = isCentral ? 0 : 1
      $0.peer = HCIAddress(peer)
      guard interval > .zero else { return }
      $0.interval = TimeUnits.connection(interval)
      $0.latency = UInt16(clamping: latency)
      $0.supervisionTimeout = TimeUnits.supervision(supervisionTimeout)
    }
    guard isEncrypted else { return [MonitorPacket(connection)] }
    let encryption = EncryptionChange {
      $0.handle = handle
      $0.mode = 1
    }
    return [MonitorPacket(connection), MonitorPacket(encryption)]
  }
}

extension MonitorPacket {
  /// An event of a controller.
  package init(_ event: some HCIEventParameters) {
    let packet = event.packet
    self.init(.event, [packet.code, UInt8(clamping: packet.parameters.count)] + packet.parameters)
  }
}
