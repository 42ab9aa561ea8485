/// Reads the packets of the MIDI I/O characteristic on one link (MIDI over Bluetooth LE 1.0).
///
/// A packet is a header with the upper 6 bits of the time, then messages: a timestamp with its lower 7 bits, a status,
/// data. Within a packet a status that is missing is the last one (running status), as is a timestamp. A system
/// exclusive message continues in the next packet, behind its header.
///
/// | State     | Octets                                    | Events                             | Next      |
/// |-----------|-------------------------------------------|------------------------------------|-----------|
/// | idle      | timestamp, status, data                   | the message                        | idle      |
/// | idle      | data behind a channel message             | a message with its status          | idle      |
/// | idle      | timestamp, F0, data                       | a piece                            | exclusive |
/// | exclusive | data                                      | a piece                            | exclusive |
/// | exclusive | timestamp, real-time status               | the piece before it, the message   | exclusive |
/// | exclusive | timestamp, F7; or F7 as the last octet    | the last piece                     | idle      |
/// | exclusive | timestamp, another status                 | the piece before it; the message   | idle      |
///
/// Only a flag is kept from packet to packet: a system exclusive message of any length is passed on in pieces.
public struct MIDIPacketDecoder: Hashable, Sendable {
  /// The content of a packet.
  public struct Packet: Hashable, Sendable {
    /// The events in their order.
    public fileprivate(set) var events: [MIDIEvent] = []
    /// The number of octets that belong to no message.
    public fileprivate(set) var ignored = 0
  }

  private var isExclusive = false

  /// Makes a decoder for a link on which no packet was received.
  public init() {}

  /// Reads a packet.
  public mutating func decode(_ octets: [UInt8]) -> Packet {
    guard let header = octets.first, header >= 0x80 else {
      var packet = Packet()
      packet.ignored = octets.count
      return packet
    }
    var reading = Reading(octets.dropFirst(), high: header & 0x3F, isExclusive: isExclusive)
    reading.read()
    isExclusive = reading.isExclusive
    return reading.packet
  }
}

/// The messages of a packet, while it is read.
private struct Reading {
  var packet = MIDIPacketDecoder.Packet()
  var isExclusive: Bool
  private var rest: ArraySlice<UInt8>
  /// The upper bits of the time.
  private var high: UInt8
  /// The last timestamp; nil before the first.
  private var low: UInt8?
  private var running: UInt8?
  /// The octets of a system exclusive message that are not among the events yet, and the time of the first.
  private var piece: [UInt8] = []
  private var pieceTime: UInt16?

  init(_ rest: ArraySlice<UInt8>, high: UInt8, isExclusive: Bool) {
    self.rest = rest
    self.high = high
    self.isExclusive = isExclusive
  }

  mutating func read() {
    while let octet = rest.first {
      if octet < 0x80 { data() } else { timestamp(octet) }
    }
    flush()
  }

  private var time: UInt16? { low.map { UInt16(high) << 7 | UInt16($0) } }

  /// Data without a status before it.
  private mutating func data() {
    if isExclusive {
      let data = rest.prefix { $0 < 0x80 }
      append(data)
      rest = rest.dropFirst(data.count)
    } else if let running {
      message(running)
    } else {
      ignore()
    }
  }

  private mutating func timestamp(_ octet: UInt8) {
    rest = rest.dropFirst()
    guard let next = rest.first else {
      // Some devices end without a timestamp.
      if isExclusive, octet == MIDIMessage.exclusiveEnd { return endExclusive() }
      packet.ignored += 1
      return
    }
    let new = octet & 0x7F
    if let low, new < low { high = (high + 1) & 0x3F }
    low = new
    guard next >= 0x80 else { return }
    rest = rest.dropFirst()
    status(next)
  }

  private mutating func status(_ status: UInt8) {
    switch status {
    case MIDIMessage.exclusiveStart:
      flush()
      isExclusive = true
      append([status])
    case MIDIMessage.exclusiveEnd:
      if isExclusive { endExclusive() } else { packet.ignored += 1 }
    case _ where MIDIMessage.isRealTime(status):
      flush()
      message(status)
    default:
      flush()
      isExclusive = false
      message(status)
      // Only the status of channel messages runs; system messages in between do not end it.
      if status < 0xF0 { running = status }
    }
  }

  /// A message whose data are the next octets.
  private mutating func message(_ status: UInt8) {
    guard let count = MIDIMessage.dataCount(of: status) else {
      packet.ignored += 1
      return
    }
    let data = rest.prefix(count).prefix { $0 < 0x80 }
    rest = rest.dropFirst(data.count)
    guard data.count == count else {
      packet.ignored += 1 + data.count
      return
    }
    packet.events.append(MIDIEvent(.short([status] + data), at: time))
  }

  private mutating func ignore() {
    rest = rest.dropFirst()
    packet.ignored += 1
  }

  private mutating func append(_ octets: some Collection<UInt8>) {
    if piece.isEmpty { pieceTime = time }
    piece += octets
  }

  private mutating func endExclusive() {
    append([MIDIMessage.exclusiveEnd])
    flush()
    isExclusive = false
  }

  private mutating func flush() {
    guard !piece.isEmpty else { return }
    packet.events.append(MIDIEvent(.exclusive(piece), at: pieceTime))
    piece = []
  }
}
