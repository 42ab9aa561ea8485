import Bluetooth

/// A note by the daemon in a recording: as a program's User Logging on the monitor channel.
public struct Annotation: Hashable, Sendable {
  /// The note's text.
  public var text: String

  /// Makes a note.
  public init(_ text: String) { self.text = text }

  /// The writer's name, as in syslog.
  private static let identifier = "bled"
  /// LOG_INFO of syslog(3).
  private static let priority: UInt8 = 6

  /// The note as a packet: the priority, the identifier's length, the identifier and the text, both with a zero at the
  /// end.
  public var packet: MonitorPacket {
    let identifier = Array(Self.identifier.utf8) + [0]
    let text = CaptureWriter.comment(text) + [0]
    return MonitorPacket(.userLogging, [Self.priority, UInt8(identifier.count)] + identifier + text)
  }

  /// Reads a note; nil if a packet is none.
  public init?(_ packet: MonitorPacket) {
    guard packet.kind == .userLogging, packet.octets.count >= 2 else { return nil }
    let text = packet.octets.dropFirst(2 + Int(packet.octets[1])).prefix { $0 != 0 }
    self.init(String(decoding: text, as: UTF8.self))
  }
}
