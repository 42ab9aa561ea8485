import Bluetooth

/// Writes PCAP Next Generation: a Section Header Block, an Interface Description Block for each adapter, and an
/// Enhanced Packet Block for each packet, whose octets begin with the adapter's number and the kind (the pseudo-header
/// of LINKTYPE_BLUETOOTH_LINUX_MONITOR, most significant octet first). Times are in microseconds.
struct PcapngWriter: Sendable {
  /// The numbers of blocks.
  private enum Block {
    static let section: UInt32 = 0x0A0D_0D0A
    static let interface: UInt32 = 1
    static let packet: UInt32 = 6
  }

  /// The numbers of options.
  private enum Option {
    static let comment: UInt16 = 1
    /// if_name
    static let name: UInt16 = 2
    /// shb_userappl
    static let program: UInt16 = 4
    /// epb_dropcount
    static let lost: UInt16 = 4
  }

  private static let linkType: UInt16 = 254
  /// The adapters in the order of their interfaces. Each of the daemon's adapters has one, so the list is short.
  private var interfaces: [UInt16] = []

  /// The beginning of the only section, of unknown length.
  var start: [UInt8] {
    var body: [UInt8] = []
    body.appendLittle(UInt32(0x1A2B_3C4D))
    body.appendLittle(UInt16(1))
    body.appendLittle(UInt16(0))
    body.appendLittle(UInt64.max)
    Self.add(Option.program, Array("bled".utf8), to: &body)
    return Self.block(Block.section, body, hasOptions: true)
  }

  func interface(of adapter: UInt16, name: String) -> [UInt8]? {
    guard !interfaces.contains(adapter) else { return nil }
    var body: [UInt8] = []
    body.appendLittle(Self.linkType)
    body.appendLittle(UInt16(0))
    body.appendLittle(UInt32(CaptureWriter.longestPiece))
    Self.add(Option.name, CaptureWriter.comment(name), to: &body)
    return Self.block(Block.interface, body, hasOptions: true)
  }

  mutating func wroteInterface(of adapter: UInt16) {
    if !interfaces.contains(adapter) { interfaces.append(adapter) }
  }

  func piece(_ record: CaptureRecord) -> [UInt8] {
    let octets = record.packet(upTo: CaptureWriter.longestPacket)
    let time = UInt64(bitPattern: record.time)
    var body: [UInt8] = []
    body.reserveCapacity(64 + octets.count)
    body.appendLittle(UInt32(interfaces.firstIndex(of: record.adapter) ?? 0))
    body.appendLittle(UInt32(truncatingIfNeeded: time >> 32))
    body.appendLittle(UInt32(truncatingIfNeeded: time))
    // The pseudo-header belongs to the packet.
    body.appendLittle(UInt32(octets.count + 4))
    body.appendLittle(UInt32(clamping: record.packet.length + 4))
    body.appendBig(record.adapter)
    body.appendBig(record.packet.kind.rawValue)
    body.append(contentsOf: octets)
    body.pad()
    if record.lostBefore > 0 {
      var count: [UInt8] = []
      count.appendLittle(UInt64(record.lostBefore))
      Self.add(Option.lost, count, to: &body)
    }
    if let comment = record.comment {
      Self.add(Option.comment, CaptureWriter.comment(comment), to: &body)
    }
    return Self.block(Block.packet, body, hasOptions: record.lostBefore > 0 || record.comment != nil)
  }

  private static func add(_ option: UInt16, _ value: [UInt8], to body: inout [UInt8]) {
    body.appendLittle(option)
    body.appendLittle(UInt16(value.count))
    body.append(contentsOf: value)
    body.pad()
  }

  /// A block: its number, its length, its contents, the end of options if there are any, and its length again.
  private static func block(_ number: UInt32, _ body: [UInt8], hasOptions: Bool) -> [UInt8] {
    let length = UInt32(body.count + (hasOptions ? 16 : 12))
    var block: [UInt8] = []
    block.reserveCapacity(Int(length))
    block.appendLittle(number)
    block.appendLittle(length)
    block.append(contentsOf: body)
    if hasOptions { block.appendLittle(UInt32(0)) }
    block.appendLittle(length)
    return block
  }
}
