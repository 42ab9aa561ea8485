import Bluetooth

/// The btsnoop of Linux: a header of 16 octets, and for each packet one of 24 octets and the packet. All numbers are
/// most significant octet first, the flags are the adapter and the kind, and the time is in microseconds since the year
/// zero.
enum BTSnoop {
  /// The name, version 1 and datalink type 2001: packets of the monitor channel.
  static let start: [UInt8] = Array("btsnoop\0".utf8) + [0, 0, 0, 1, 0, 0, 0x07, 0xD1]
  /// The header of a packet, in octets.
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

/// Reads a recording of the btsnoop of Linux as it comes.
///
/// | State     | Input                        | What happens                                  |
/// |-----------|------------------------------|-----------------------------------------------|
/// | beginning | the 16 octets of the header  | → reading, or an error if it is another format |
/// | reading   | a whole packet               | it is given out                               |
/// | reading   | a packet beyond the longest  | an error; nothing more is given out           |
/// | any       | less than that               | it waits for the rest                         |
public struct BTSnoopReader: Sendable {
  /// Why octets are not such a recording.
  public enum Problem: Error, Hashable, Sendable {
    /// The file does not begin as one, or has another version or datalink type.
    case notBTSnoop
    /// A packet has so many octets, more than any has.
    case tooLong(Int)
  }

  /// The longest packet that is believed, in octets.
  private static let longest = 1 << 16
  private var waiting: [UInt8] = []
  /// Where in `waiting` what was not read begins.
  private var position = 0
  private var hasBegun = false

  /// Begins with nothing read.
  public init() {}

  /// Adds octets.
  public mutating func append(_ octets: some Collection<UInt8>) {
    waiting.removeFirst(position)
    position = 0
    waiting.append(contentsOf: octets)
  }

  /// The next packet; nil if the rest of it has yet to come.
  public mutating func next() throws(Problem) -> CaptureRecord? {
    if !hasBegun {
      guard waiting.count >= BTSnoop.start.count else { return nil }
      guard waiting.starts(with: BTSnoop.start) else { throw .notBTSnoop }
      hasBegun = true
      position = BTSnoop.start.count
    }
    let rest = waiting[position...]
    guard let length = rest.big(4, at: 0), let included = rest.big(4, at: 4), let adapter = rest.big(2, at: 8),
      let kind = rest.big(2, at: 10), let lost = rest.big(4, at: 12), let time = rest.big(8, at: 16)
    else { return nil }
    guard included <= Self.longest else { throw .tooLong(Int(clamping: included)) }
    let end = BTSnoop.headerLength + Int(included)
    guard rest.count >= end else { return nil }
    let octets = rest.dropFirst(BTSnoop.headerLength).prefix(Int(included))
    var packet = MonitorPacket(.init(rawValue: UInt16(truncatingIfNeeded: kind)), Array(octets))
    packet.length = max(packet.length, Int(clamping: length))
    position += end
    return CaptureRecord(
      adapter: UInt16(truncatingIfNeeded: adapter), packet: packet,
      time: Int64(truncatingIfNeeded: time) &- BTSnoop.epoch, lost: UInt32(truncatingIfNeeded: lost))
  }
}
