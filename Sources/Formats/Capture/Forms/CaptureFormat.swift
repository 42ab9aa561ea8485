import Bluetooth

/// A packet in a recording.
public struct CaptureRecord: Hashable, Sendable {
  /// The adapter's number; `noAdapter` for packets without one.
  public var adapter: UInt16
  /// The packet.
  public var packet: MonitorPacket
  /// When it passed, in microseconds since the epoch.
  public var time: Int64
  /// Packets missing from the recording so far.
  public var lost: UInt32
  /// Packets missing between the previous one and this one.
  public var lostBefore: UInt32
  /// A comment; nil for none.
  public var comment: String?
  /// The adapter's name, where the form has it.
  public var adapterName: String?

  /// The number for no adapter (HCI_DEV_NONE).
  public static let noAdapter: UInt16 = 0xFFFF

  /// Makes a record from its parts.
  public init(
    adapter: UInt16, packet: MonitorPacket, time: Int64, lost: UInt32 = 0, lostBefore: UInt32 = 0,
    comment: String? = nil
  ) {
    self.adapter = adapter
    self.packet = packet
    self.time = time
    self.lost = lost
    self.lostBefore = lostBefore
    self.comment = comment
  }

  /// The packet as far as there is room for it.
  func packet(upTo most: Int) -> ArraySlice<UInt8> { packet.octets.prefix(most) }
}

/// Writes a recording, piece by piece. No piece is longer than a pipe takes as a whole (pipe(7), PIPE_BUF), so a longer
/// packet is cut off, and its real length is recorded.
public struct CaptureWriter: Sendable {
  /// Maximum octets of a piece.
  public static let longestPiece = 4096
  /// Maximum stored octets of a packet.
  static let longestPacket = 3584
  /// Maximum stored octets of a comment.
  static let longestComment = 256

  /// A comment as far as it is kept: whole characters.
  static func comment(_ text: String) -> [UInt8] {
    var kept = text.utf8.prefix(longestComment)
    while kept.endIndex.samePosition(in: text.unicodeScalars) == nil { kept.removeLast() }
    return Array(kept)
  }

  /// The form.
  public let format: CaptureFormat
  private var pcapng = PcapngWriter()

  /// Begins a recording in this form.
  public init(_ format: CaptureFormat) { self.format = format }

  /// A recording's first octets.
  public var start: [UInt8] {
    switch format {
    case .pcapng: pcapng.start
    case .btsnoop: BTSnoop.start
    }
  }

  /// The octets required before an adapter's first packet; nil for none.
  public func interface(of adapter: UInt16, name: String) -> [UInt8]? {
    format == .pcapng ? pcapng.interface(of: adapter, name: name) : nil
  }

  /// This adapter's `interface` was written.
  public mutating func wroteInterface(of adapter: UInt16) { pcapng.wroteInterface(of: adapter) }

  /// A packet of an adapter whose `interface` was written.
  public func piece(_ record: CaptureRecord) -> [UInt8] {
    switch format {
    case .pcapng: pcapng.piece(record)
    case .btsnoop: BTSnoop.piece(record)
    }
  }
}

extension [UInt8] {
  /// Appends a number, most significant octet first.
  mutating func appendBig<Number: FixedWidthInteger>(_ number: Number) {
    Swift.withUnsafeBytes(of: number.bigEndian) { append(contentsOf: $0) }
  }

  /// Appends a number, least significant octet first.
  mutating func appendLittle<Number: FixedWidthInteger>(_ number: Number) {
    Swift.withUnsafeBytes(of: number.littleEndian) { append(contentsOf: $0) }
  }

  /// Appends zeros up to a multiple of four octets.
  mutating func pad() { append(contentsOf: repeatElement(0, count: -count & 3)) }
}
