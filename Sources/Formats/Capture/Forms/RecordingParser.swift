/// A reader for one form of recording.
protocol RecordingForm: Sendable {
  /// Begins with nothing read.
  init()
  /// Returns true if a recording with these first 16 octets has this form.
  static func recognises(_ start: ArraySlice<UInt8>) -> Bool
  /// The received octets of an incomplete packet.
  var unreadCount: Int { get }
  /// Adds octets.
  mutating func append(_ octets: ArraySlice<UInt8>)
  /// The next packet; nil if its rest is still missing.
  mutating func next() throws(RecordingProblem) -> CaptureRecord?
}

/// Reads a recording incrementally, in any form: btsnoop (Linux's, Android's, and without H4), pcapng and pcap with HCI
/// packets, and Apple's PacketLogger. The first 16 octets identify the form.
///
/// | State     | Input                     | Effect                                              |
/// |-----------|---------------------------|-----------------------------------------------------|
/// | beginning | fewer than 16 octets      | it waits for the rest                               |
/// | beginning | 16 octets                 | → reading, or an error if no form begins so         |
/// | reading   | a whole packet            | it is given out                                     |
public struct RecordingParser: Sendable {
  /// PacketLogger's has no mark, so it is the last.
  private static let forms: [any RecordingForm.Type] = [
    BTSnoopReader.self, PcapngReader.self, PcapReader.self, PacketLoggerReader.self,
  ]
  /// The octets needed to identify the form.
  private static let enough = 16
  private var start: [UInt8] = []
  private var form: (any RecordingForm)?

  /// Begins with nothing read.
  public init() {}

  /// True if the form is known: false for octets shorter than any form's beginning.
  public var hasBegun: Bool { form != nil }

  /// The octets after the last whole packet: not 0 at the end of a truncated recording.
  public var unreadCount: Int { form?.unreadCount ?? start.count }

  /// Adds octets.
  public mutating func append(_ octets: ArraySlice<UInt8>) {
    if form == nil { start += octets } else { form?.append(octets) }
  }

  /// The next packet; nil if its rest is still missing.
  /// - Throws: the reason why the rest cannot be read; nothing more is given out.
  public mutating func next() throws(RecordingProblem) -> CaptureRecord? {
    if form == nil {
      guard start.count >= Self.enough else { return nil }
      guard let found = Self.forms.first(where: { $0.recognises(start[...]) }) else { throw .unknownForm }
      form = found.init()
      form?.append(start[...])
      start = []
    }
    return try form?.next()
  }
}
