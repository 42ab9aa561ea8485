import Bluetooth

/// Reads the older form of pcap (draft-ietf-opsawg-pcap): a header of 24 octets, and for each packet one of 16 octets
/// and the packet. The first four octets give the octet order, and the unit of times.
struct PcapReader: RecordingForm {
  private struct Form {
    var isLittle: Bool
    var hasNanoseconds: Bool
    var linkType: UInt16
  }

  private static let headerLength = 24
  private static let packetHeaderLength = 16
  private static let microseconds: UInt32 = 0xA1B2_C3D4
  private static let nanoseconds: UInt32 = 0xA1B2_3C4D
  private var octets = ReceivedOctets()
  private var form: Form?

  static func recognises(_ start: ArraySlice<UInt8>) -> Bool {
    [true, false].contains { isLittle in
      start.number32(at: 0, isLittle: isLittle).map { $0 == microseconds || $0 == nanoseconds } ?? false
    }
  }

  var unreadCount: Int { octets.rest.count }

  mutating func append(_ octets: ArraySlice<UInt8>) { self.octets.append(octets) }

  mutating func next() throws(RecordingProblem) -> CaptureRecord? {
    if form == nil {
      guard octets.rest.count >= Self.headerLength else { return nil }
      form = try readForm()
      octets.drop(Self.headerLength)
    }
    while let form {
      let rest = octets.rest
      guard let seconds = rest.number32(at: 0, isLittle: form.isLittle),
        let fraction = rest.number32(at: 4, isLittle: form.isLittle),
        let included = rest.number32(at: 8, isLittle: form.isLittle),
        let length = rest.number32(at: 12, isLittle: form.isLittle)
      else { return nil }
      guard included <= RecordedPacket.longest else { throw .tooLong(Int(included)) }
      guard rest.count >= Self.packetHeaderLength + Int(included) else { return nil }
      let content = rest.dropFirst(Self.packetHeaderLength).prefix(Int(included))
      octets.drop(Self.packetHeaderLength + Int(included))
      let time = Int64(seconds) * 1_000_000 + Int64(form.hasNanoseconds ? fraction / 1000 : fraction)
      let missing = Int(length > included ? length - included : 0)
      if let record = LinkType.record(form.linkType, content, time: time, missing: missing) { return record }
    }
    return nil
  }

  private func readForm() throws(RecordingProblem) -> Form {
    let header = octets.rest
    for isLittle in [true, false] {
      guard let magic = header.number32(at: 0, isLittle: isLittle),
        magic == Self.microseconds || magic == Self.nanoseconds,
        let network = header.number32(at: 20, isLittle: isLittle)
      else { continue }
      // Only the lower bits are the link type.
      let type = UInt16(truncatingIfNeeded: network)
      guard LinkType.isRead(type) else { throw .unsupported("pcap of link type \(type)") }
      return Form(isLittle: isLittle, hasNanoseconds: magic == Self.nanoseconds, linkType: type)
    }
    throw .unknownForm
  }
}
