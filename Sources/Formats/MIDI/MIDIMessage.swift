/// A message of MIDI 1.0, or a piece of a system exclusive one.
public enum MIDIMessage: Hashable, Sendable {
  /// A status octet with its data: a channel, a system common or a system real-time message.
  case short([UInt8])
  /// A piece of a system exclusive message: the first begins with F0, the last ends with F7.
  case exclusive([UInt8])

  /// F0: begins a system exclusive message.
  static let exclusiveStart: UInt8 = 0xF0
  /// F7: ends it.
  static let exclusiveEnd: UInt8 = 0xF7

  /// The number of data octets that follow a status.
  /// - Returns: nil for a status that MIDI 1.0 does not define, and for the ends of a system exclusive message.
  public static func dataCount(of status: UInt8) -> Int? {
    switch status {
    case 0x80..<0xC0, 0xE0..<0xF0, 0xF2: 2
    case 0xC0..<0xE0, 0xF1, 0xF3: 1
    case 0xF6, 0xF8, 0xFA...0xFC, 0xFE...0xFF: 0
    default: nil
    }
  }

  /// Whether a status is of a system real-time message, which may be within a system exclusive one.
  static func isRealTime(_ status: UInt8) -> Bool { status >= 0xF8 }
}

/// A message with the time of its playing.
public struct MIDIEvent: Hashable, Sendable {
  /// In milliseconds of the sender's clock, modulo 8192; nil: the same as of the event before it.
  public var timestamp: UInt16?
  /// The message.
  public var message: MIDIMessage

  /// Makes an event.
  public init(_ message: MIDIMessage, at timestamp: UInt16?) {
    self.timestamp = timestamp
    self.message = message
  }

  /// The values of timestamps: 13 bits.
  public static let timestamps: UInt16 = 0x2000
}
