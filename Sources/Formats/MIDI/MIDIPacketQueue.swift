/// Messages for the MIDI I/O characteristic, as packets that wait to be written (MIDI over Bluetooth LE 1.0). Messages
/// are added to the last packet while it waits, and share a status and a timestamp with the message before (running
/// status).
public struct MIDIPacketQueue: Hashable, Sendable {
  /// The shortest limit of packets: that of an ATT MTU of 23.
  public static let shortestLimit = 20
  /// At this number of packets further messages should wait elsewhere.
  public static let capacity = 64

  /// The longest of later packets, in octets: the ATT MTU less 3.
  public var limit = shortestLimit
  private var packets: [OpenPacket] = []
  /// A system exclusive message has begun and not ended.
  private var isExclusive = false

  /// Makes an empty queue.
  public init() {}

  /// Whether further messages should wait.
  public var isFull: Bool { packets.count >= Self.capacity }

  /// Takes the oldest packet; nil: there is none.
  public mutating func next() -> [UInt8]? { packets.isEmpty ? nil : packets.removeFirst().octets }

  /// Adds a message.
  /// - Parameter timestamp: when it is played, in milliseconds modulo 8192.
  /// - Returns: false if it is not a message, or a piece of a system exclusive one that has not begun.
  public mutating func append(_ message: MIDIMessage, at timestamp: UInt16) -> Bool {
    let timestamp = timestamp % MIDIEvent.timestamps
    switch message {
    case .short(let octets):
      guard let status = octets.first, MIDIMessage.dataCount(of: status) == octets.count - 1,
        octets.dropFirst().allSatisfy({ $0 < 0x80 })
      else { return false }
      if !MIDIMessage.isRealTime(status) { isExclusive = false }
      append(octets, at: timestamp)
      return true
    case .exclusive(let octets): return append(exclusive: octets, at: timestamp)
    }
  }

  private mutating func append(exclusive octets: [UInt8], at timestamp: UInt16) -> Bool {
    if octets.first == MIDIMessage.exclusiveStart {
      isExclusive = true
      append([MIDIMessage.exclusiveStart], at: timestamp)
    }
    guard isExclusive else { return false }
    for octet in octets where octet < 0x80 {
      if packets.last?.hasRoom != true { begin(at: timestamp) }
      packets[packets.count - 1].append(octet)
    }
    guard octets.last == MIDIMessage.exclusiveEnd else { return true }
    isExclusive = false
    append([MIDIMessage.exclusiveEnd], at: timestamp)
    return true
  }

  /// Adds a status and its data to the last packet, or to a new one.
  private mutating func append(_ octets: [UInt8], at timestamp: UInt16) {
    if let last = packets.indices.last, packets[last].append(octets, at: timestamp) { return }
    begin(at: timestamp)
    _ = packets[packets.count - 1].append(octets, at: timestamp)
  }

  private mutating func begin(at timestamp: UInt16) {
    packets.append(OpenPacket(at: timestamp, limit: max(limit, Self.shortestLimit)))
  }
}

/// A packet to which messages are added.
private struct OpenPacket: Hashable {
  var octets: [UInt8]
  private let limit: Int
  /// The last timestamp; at first the time of the header.
  private var time: UInt16
  private var hasTimestamp = false
  /// The status of the last message; nil if it was not a channel message.
  private var running: UInt8?

  init(at time: UInt16, limit: Int) {
    octets = [0x80 | UInt8(time >> 7)]
    self.time = time
    self.limit = limit
  }

  var hasRoom: Bool { octets.count < limit }

  mutating func append(_ octet: UInt8) { octets.append(octet) }

  /// - Returns: false if it does not fit.
  mutating func append(_ message: [UInt8], at new: UInt16) -> Bool {
    guard isNear(new), let status = message.first else { return false }
    var added: [UInt8] = []
    if running != status || time != new { added.append(0x80 | UInt8(new & 0x7F)) }
    added += running == status ? message.dropFirst() : message[...]
    guard octets.count + added.count <= limit else { return false }
    octets += added
    (time, hasTimestamp, running) = (new, true, status < 0xF0 ? status : nil)
    return true
  }

  /// Whether a time can be written by its lower bits: the receiver takes the upper ones from the timestamp before.
  private func isNear(_ new: UInt16) -> Bool {
    hasTimestamp ? (new &- time) % MIDIEvent.timestamps < 0x80 : new >> 7 == time >> 7
  }
}
