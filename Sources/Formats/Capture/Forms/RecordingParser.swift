/// A reader of one form of recording.
protocol RecordingForm: Sendable {
  /// Begins with nothing read.
  init()
  /// Whether a recording that begins with these 16 octets is one of this form.
  static func recognises(_ start: ArraySlice<UInt8>) -> Bool
  /// How many octets of a packet that is not there as a whole were received.
  var unreadCount: Int { get }
  /// Adds octets.
  mutating func append(_ octets: ArraySlice<UInt8>)
  /// The next packet; nil if the rest of it has yet to come.
  mutating func next() throws(RecordingProblem) -> CaptureRecord?
}

/// Reads a recording as it comes, in any of the forms: btsnoop (of Linux, of Android, and without H4), pcapng and pcap
/// with packets of HCI, and Apple's PacketLogger. The first 16 octets tell which form it is.
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
  /// So many octets tell the form.
  private static let enough = 16
  private var start: [UInt8] = []
  private var form: (any RecordingForm)?

  /// Begins with nothing read.
  public init() {}

  /// Whether the form is known: false for octets that are shorter than the beginning of any form.
  public var hasBegun: Bool { form != nil }

  /// How many octets follow the last whole packet: not 0 at the end of a recording that was cut off.
  public var unreadCount: Int { form?.unreadCount ?? start.count }

  /// Adds octets.
  public mutating func append(_ octets: ArraySlice<UInt8>) {
    if form == nil { start += octets } else { form?.append(octets) }
  }

  /// The next packet; nil if the rest of it has yet to come.
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
