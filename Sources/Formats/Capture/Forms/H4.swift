import Bluetooth

/// Packets as on a serial line (Core 5.4, Vol 4, Part A, 2): a type octet, then the packet.
enum H4 {
  /// The packet; nil for an empty one, and for types missing in the specification.
  static func packet(_ octets: ArraySlice<UInt8>, isReceived: Bool) -> MonitorPacket? {
    guard let type = octets.first else { return nil }
    let kind: MonitorPacket.Kind
    switch type {
    case 1: kind = .command
    case 2: kind = isReceived ? .receivedACL : .sentACL
    case 3: kind = .init(rawValue: isReceived ? 7 : 6)
    case 4: kind = .event
    case 5: kind = .init(rawValue: isReceived ? 19 : 18)
    default: return nil
    }
    return MonitorPacket(kind, Array(octets.dropFirst()))
  }
}

/// The contents of a packet block or record in pcap and pcapng, by its interface's link type.
enum LinkType {
  /// LINKTYPE_BLUETOOTH_HCI_H4_WITH_PHDR: four octets for the direction, then H4.
  static let h4WithDirection: UInt16 = 201
  /// LINKTYPE_BLUETOOTH_LINUX_MONITOR: the adapter and the kind, then the packet.
  static let monitor: UInt16 = 254

  /// Returns true if packets of this type are read.
  static func isRead(_ type: UInt16) -> Bool { type == h4WithDirection || type == monitor }

  /// A packet's record; nil if it cannot be read.
  /// - Parameter missing: the packet's octets missing in the recording.
  static func record(_ type: UInt16, _ octets: ArraySlice<UInt8>, time: Int64, missing: Int) -> CaptureRecord? {
    var adapter: UInt16 = 0
    var packet: MonitorPacket?
    if type == monitor, let number = octets.big(2, at: 0), let kind = octets.big(2, at: 2) {
      adapter = UInt16(truncatingIfNeeded: number)
      packet = MonitorPacket(.init(rawValue: UInt16(truncatingIfNeeded: kind)), Array(octets.dropFirst(4)))
    } else if type == h4WithDirection, let direction = octets.big(4, at: 0) {
      packet = H4.packet(octets.dropFirst(4), isReceived: direction & 1 == 1)
    }
    guard var packet else { return nil }
    packet.length += missing
    return CaptureRecord(adapter: adapter, packet: packet, time: time)
  }
}
