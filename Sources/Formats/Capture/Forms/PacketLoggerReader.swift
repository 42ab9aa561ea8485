import Bluetooth

/// Reads recordings made by Apple's PacketLogger (.pklg). For each packet: four octets for the length of the rest,
/// eight for the time in seconds and microseconds, one for the type, and the packet. Older versions write numbers most
/// significant octet first, newer ones least significant first.
struct PacketLoggerReader: RecordingForm {
  private static let headerLength = 13
  /// The types: 0 command, 1 event, 2 and 3 ACL, 8 and 9 SCO.
  private static let kinds: [UInt8: UInt16] = [0: 2, 1: 3, 2: 4, 3: 5, 8: 6, 9: 7]
  /// The types of notes about the controller and the system begin here.
  private static let firstNote: UInt8 = 0xF0
  private var octets = ReceivedOctets()
  private var isLittle: Bool?

  // There is no magic number: the first packet's header has to be valid.
  static func recognises(_ start: ArraySlice<UInt8>) -> Bool {
    guard let isLittle = order(start), let length = start.number32(at: 0, isLittle: isLittle),
      let microseconds = start.number32(at: 8, isLittle: isLittle), let type = start.dropFirst(12).first
    else { return false }
    return length >= 9 && length <= 1 << 16 && microseconds < 1_000_000 && (type <= 0x0F || type >= firstNote)
  }

  /// True if numbers have their least significant octet first: the first packet's length is below 65,536.
  private static func order(_ start: ArraySlice<UInt8>) -> Bool? {
    start.number32(at: 0, isLittle: false).map { $0 & 0xFFFF_0000 != 0 }
  }

  var unreadCount: Int { octets.rest.count }

  mutating func append(_ octets: ArraySlice<UInt8>) { self.octets.append(octets) }

  mutating func next() throws(RecordingProblem) -> CaptureRecord? {
    while true {
      let rest = octets.rest
      guard rest.count >= Self.headerLength else { return nil }
      let isLittle = self.isLittle ?? Self.order(rest) ?? false
      self.isLittle = isLittle
      guard let length = rest.number32(at: 0, isLittle: isLittle),
        let seconds = rest.number32(at: 4, isLittle: isLittle),
        let microseconds = rest.number32(at: 8, isLittle: isLittle), let type = rest.dropFirst(12).first
      else { return nil }
      guard length <= RecordedPacket.longest else { throw .tooLong(Int(length)) }
      guard length >= 9 else { throw .damaged }
      guard rest.count >= 4 + Int(length) else { return nil }
      let content = rest.dropFirst(Self.headerLength).prefix(Int(length) - 9)
      octets.drop(4 + Int(length))
      guard let kind = Self.kinds[type] else { continue }
      return CaptureRecord(
        adapter: 0, packet: MonitorPacket(.init(rawValue: kind), Array(content)),
        time: Int64(seconds) * 1_000_000 + Int64(microseconds))
    }
  }
}
