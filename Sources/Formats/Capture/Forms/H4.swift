import Bluetooth

/// Packets as a serial line has them (Core 5.4, Vol 4, Part A, 2): an octet that tells the type, then the packet.
enum H4 {
  /// The packet; nil for an empty one, and for types that the specification does not have.
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

/// The contents of a packet block or record of pcap and pcapng, by the link type of its interface.
enum LinkType {
  /// LINKTYPE_BLUETOOTH_HCI_H4_WITH_PHDR: four octets for the direction, then H4.
  static let h4WithDirection: UInt16 = 201
  /// LINKTYPE_BLUETOOTH_LINUX_MONITOR: the adapter and the kind, then the packet.
  static let monitor: UInt16 = 254

  /// Whether packets of this type are read.
  static func isRead(_ type: UInt16) -> Bool { type == h4WithDirection || type == monitor }

  /// The record of a packet; nil for one that cannot be read.
  /// - Parameter missing: how many of the packet's octets the recording lacks.
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
