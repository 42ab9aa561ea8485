/// The reason why octets cannot be read as a recording.
public enum RecordingProblem: Error, Hashable, Sendable {
  /// The file's beginning matches none of the forms.
  case unknownForm
  /// The version or packet type is not supported: "btsnoop of datalink type 1003".
  case unsupported(String)
  /// A packet claims to have this many octets, more than any has.
  case tooLong(Int)
  /// The lengths in the file contradict one another.
  case damaged

  /// The reason in words: lower case, without a period.
  public var message: String {
    switch self {
    case .unknownForm:
      "not a recording of HCI packets: the forms are btsnoop, pcapng, pcap and PacketLogger's"
    case .unsupported(let text): "a recording of \(text), which cannot be read"
    case .tooLong(let length): "damaged: a packet claims to have \(length) octets"
    case .damaged: "damaged: its lengths contradict one another"
    }
  }
}
