import Bluetooth

/// Reads PCAP Next Generation (draft-ietf-opsawg-pcapng): blocks, each beginning with its number and its length.
///
/// | Block                 | Effect                                                                    |
/// |-----------------------|---------------------------------------------------------------------------|
/// | Section Header        | the order of octets is known; interfaces of an earlier section are gone    |
/// | Interface Description | its link type and the unit of its times are remembered                    |
/// | Enhanced Packet       | its packet is given out if the interface has packets of HCI               |
/// | any other             | nothing                                                                   |
struct PcapngReader: RecordingForm {
  private struct Interface {
    var linkType: UInt16
    /// The unit of times: 10 or 2 to the power of `-exponent` seconds.
    var base: UInt64 = 10
    var exponent = 6
    /// In seconds.
    var offset: Int64 = 0
    var name: String?
  }

  private enum Block {
    static let section: UInt32 = 0x0A0D_0D0A
    static let interface: UInt32 = 1
    static let packet: UInt32 = 6
  }

  private static let byteOrder: UInt32 = 0x1A2B_3C4D
  private static let longestBlock = 1 << 24
  private static let maximumInterfaces = 1024
  private var octets = ReceivedOctets()
  private var isLittle = true
  private var interfaces: [Interface] = []

  static func recognises(_ start: ArraySlice<UInt8>) -> Bool {
    start.number32(at: 0, isLittle: true) == Block.section
  }

  var unreadCount: Int { octets.rest.count }

  mutating func append(_ octets: ArraySlice<UInt8>) { self.octets.append(octets) }

  mutating func next() throws(RecordingProblem) -> CaptureRecord? {
    while true {
      let rest = octets.rest
      guard rest.count >= 12 else { return nil }
      // Its number reads the same in both orders.
      let isSection = rest.number32(at: 0, isLittle: true) == Block.section
      if isSection { try readOrder(rest) }
      guard let number = rest.number32(at: 0, isLittle: isLittle), let length = rest.number32(at: 4, isLittle: isLittle)
      else { return nil }
      guard length <= Self.longestBlock else { throw .tooLong(Int(length)) }
      guard length >= 12, length % 4 == 0 else { throw .damaged }
      guard rest.count >= Int(length) else { return nil }
      let body = rest.dropFirst(8).prefix(Int(length) - 12)
      octets.drop(Int(length))
      switch number {
      case Block.section: interfaces = []
      case Block.interface: try readInterface(body)
      case Block.packet: if let record = packet(body) { return record }
      default: break
      }
    }
  }

  private mutating func readOrder(_ block: ArraySlice<UInt8>) throws(RecordingProblem) {
    guard let order = [true, false].first(where: { block.number32(at: 8, isLittle: $0) == Self.byteOrder }) else {
      throw .damaged
    }
    isLittle = order
  }

  private mutating func readInterface(_ body: ArraySlice<UInt8>) throws(RecordingProblem) {
    guard let type = body.number16(at: 0, isLittle: isLittle), interfaces.count < Self.maximumInterfaces else {
      throw .damaged
    }
    var interface = Interface(linkType: type)
    var options = body.dropFirst(8)
    while let code = options.number16(at: 0, isLittle: isLittle), code != 0,
      let length = options.number16(at: 2, isLittle: isLittle)
    {
      let value = options.dropFirst(4).prefix(Int(length))
      // if_tsresol: the highest bit chooses the base. if_tsoffset: in seconds.
      if code == 9, let resolution = value.first {
        interface.base = resolution & 0x80 == 0 ? 10 : 2
        interface.exponent = Int(resolution & 0x7F)
      } else if code == 14, value.count == 8 {
        let number = value.big(8, at: 0) ?? 0
        interface.offset = Int64(bitPattern: isLittle ? number.byteSwapped : number)
      } else if code == 2 {
        // if_name
        interface.name = String(decoding: value.prefix { $0 != 0 }, as: UTF8.self)
      }
      options = options.dropFirst(4 + (Int(length) + 3) & ~3)
    }
    interfaces.append(interface)
    guard LinkType.isRead(type) || interfaces.contains(where: { LinkType.isRead($0.linkType) }) else {
      throw .unsupported("pcapng of link type \(type)")
    }
  }

  private func packet(_ body: ArraySlice<UInt8>) -> CaptureRecord? {
    guard let number = body.number32(at: 0, isLittle: isLittle), number < interfaces.count,
      let high = body.number32(at: 4, isLittle: isLittle), let low = body.number32(at: 8, isLittle: isLittle),
      let included = body.number32(at: 12, isLittle: isLittle), let length = body.number32(at: 16, isLittle: isLittle),
      body.count >= 20 + Int(included)
    else { return nil }
    let interface = interfaces[Int(number)]
    let time = Self.microseconds(UInt64(high) << 32 | UInt64(low), interface)
    let missing = Int(length > included ? length - included : 0)
    var record = LinkType.record(
      interface.linkType, body.dropFirst(20).prefix(Int(included)), time: time, missing: missing)
    record?.adapterName = interface.name
    return record
  }

  private static func microseconds(_ units: UInt64, _ interface: Interface) -> Int64 {
    if interface.base == 10, interface.exponent == 6, interface.offset == 0 { return Int64(bitPattern: units) }
    var perSecond = 1.0
    for _ in 0..<interface.exponent { perSecond *= Double(interface.base) }
    let seconds = Double(units) / perSecond + Double(interface.offset)
    return Int64(exactly: (seconds * 1_000_000).rounded()) ?? 0
  }
}
