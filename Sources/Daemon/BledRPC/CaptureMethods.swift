import Bluetooth

/// Records the packets of adapters.
public enum CaptureStart: ClientCall {
  public static let method = MethodDescription(
    "capture.start", needs: .capture,
    """
    Records the packets between adapters and their controllers, of all programs, and which session called what. The \
    answer passes the descriptor of a pipe with it, from which the recording is read as it comes, as a file of the \
    format would be. What the program does not read in time is left out and counted. The recording ends with \
    capture.stop, when the program closes the descriptor, and with the session.
    """)

  public struct Params: RPCPayload, Hashable {
    /// "pcapng" (link type 254) or "btsnoop" (datalink type 2001, which btmon reads); "pcapng" if missing.
    public var format: CaptureFormat?
    /// Only this adapter; all of them, later ones included, if missing.
    public var adapter: String?
    /// True: keys are recorded, too, which needs the permission "sessions". Otherwise they are zeros.
    public var keys: Bool?
    public init(format: CaptureFormat? = nil, adapter: String? = nil, keys: Bool? = nil) {
      self.format = format
      self.adapter = adapter
      self.keys = keys
    }
  }

  /// The result; the descriptor is passed with it.
  public struct Result: RPCPayload, Hashable {
    /// The number that names the recording in this session, 1 or more.
    public var capture: Int
    public init(capture: Int) { self.capture = capture }
  }
}

/// Ends a recording.
public enum CaptureStop: ClientCall {
  public static let method = MethodDescription(
    "capture.stop", needs: nil,
    """
    Ends a recording of this session. What was recorded before can still be read. It fails with the reason if the \
    recording had ended because no adapter could be recorded any more.
    """)

  public struct Params: RPCPayload, Hashable {
    /// Its number, 1 or more.
    public var capture: Int
    public init(capture: Int) { self.capture = capture }
  }

  /// The size of the recording.
  public struct Result: RPCPayload, Hashable {
    /// The number of packets in the recording, including notes.
    public var packets: Int
    /// The number of missing packets, which were not read in time.
    public var lost: Int
    public init(packets: Int, lost: Int) {
      self.packets = packets
      self.lost = lost
    }
  }
}

/// A recording is incomplete.
public enum CaptureLost: RPCNotification {
  public static let message = MessageDescription(
    "capture.lost",
    """
    So many packets are missing from a recording because they were not read in time. It is told a second after the \
    first of them; the recording says where they are missing.
    """)

  public struct Params: RPCPayload, Hashable {
    /// Its number, 1 or more.
    public var capture: Int
    /// The number of packets, 1 or more.
    public var packets: Int
    public init(capture: Int, packets: Int) {
      self.capture = capture
      self.packets = packets
    }
  }
}
