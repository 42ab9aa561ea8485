import Bluetooth

/// Linux's btsnoop: a header of 16 octets, and for each packet one of 24 octets and the packet. All numbers are most
/// significant octet first, the flags are the adapter and the kind, and the time is in microseconds since the year
/// zero.
enum BTSnoop {
  /// The name, version 1 and datalink type 2001: packets of the monitor channel.
  static let start: [UInt8] = Array("btsnoop\0".utf8) + [0, 0, 0, 1, 0, 0, 0x07, 0xD1]
  /// A packet's header, in octets.
  static let headerLength = 24
  /// From the year zero to the epoch, in microseconds.
  static let epoch: Int64 = 0x00DC_DDB3_0F2F_8000

  static func piece(_ record: CaptureRecord) -> [UInt8] {
    let octets = record.packet(upTo: CaptureWriter.longestPacket)
    var piece: [UInt8] = []
    piece.reserveCapacity(headerLength + octets.count)
    piece.appendBig(UInt32(clamping: record.packet.length))
    piece.appendBig(UInt32(octets.count))
    piece.appendBig(record.adapter)
    piece.appendBig(record.packet.kind.rawValue)
    piece.appendBig(record.lost)
    piece.appendBig(record.time &+ epoch)
    piece.append(contentsOf: octets)
    return piece
  }
}
