/// The parameters of one kind of event.
public protocol HCIEventParameters: Hashable, Sendable {
  /// The event code.
  static var code: UInt8 { get }
  /// The subevent code, for LE Meta events.
  static var subevent: UInt8? { get }
  /// Reads the parameters behind the codes.
  init(from reader: inout OctetReader) throws(HCICodingError)
  /// Writes the parameters behind the codes.
  func write(to writer: inout OctetWriter)
}

extension HCIEventParameters {
  /// No subevent.
  public static var subevent: UInt8? { nil }

  /// The event as a packet.
  public var packet: EventPacket {
    var writer = OctetWriter()
    if let subevent = Self.subevent { writer.uint8(subevent) }
    write(to: &writer)
    return EventPacket(code: Self.code, parameters: writer.octets)
  }
}
