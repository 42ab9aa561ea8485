import Bluetooth

/// Records the packets of adapters.
public enum CaptureStart: ClientCall {
  /// `capture.start`
  public static let name = "capture.start"
  /// The permission that the caller needs: the packets of all programs are recorded.
  public static let permission: Permission? = .capture
  /// For `rpc.discover`.
  public static let summary = """
    Records the packets between adapters and their controllers, of all programs, and which session called what. The \
    answer passes the descriptor of a pipe with it, from which the recording is read as it comes, as a file of the \
    format would be. What the program does not read in time is left out and counted. The recording ends with \
    capture.stop, when the program closes the descriptor, and with the session.
    """

  /// The parameters.
  public struct Params: RPCPayload, Hashable {
    /// "pcapng" (link type 254) or "btsnoop" (datalink type 2001, which btmon reads); "pcapng" if missing.
    public var format: CaptureFormat?
    /// Only this adapter; all of them, later ones included, if missing.
    public var adapter: String?
    /// True: keys are recorded, too, which needs the permission "sessions". Otherwise they are zeros.
    public var keys: Bool?
    /// Makes the params.
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
    /// Makes the result.
    public init(capture: Int) { self.capture = capture }
  }
}

/// Ends a recording.
public enum CaptureStop: ClientCall {
  /// `capture.stop`
  public static let name = "capture.stop"
  /// No permission: a session has only recordings that it was permitted to make.
  public static let permission: Permission? = nil
  /// For `rpc.discover`.
  public static let summary = """
    Ends a recording of this session. What was recorded before can still be read. It fails with the reason if the \
    recording had ended because no adapter could be recorded any more.
    """

  /// The parameters.
  public struct Params: RPCPayload, Hashable {
    /// Its number, 1 or more.
    public var capture: Int
    /// Makes the params.
    public init(capture: Int) { self.capture = capture }
  }

  /// The size of the recording.
  public struct Result: RPCPayload, Hashable {
    /// The number of packets in the recording, including notes.
    public var packets: Int
    /// The number of missing packets, which were not read in time.
    public var lost: Int
    /// Makes the result.
    public init(packets: Int, lost: Int) {
      self.packets = packets
      self.lost = lost
    }
  }
}

/// A recording is incomplete.
public enum CaptureLost: RPCNotification {
  /// `capture.lost`
  public static let name = "capture.lost"
  /// For `rpc.discover`.
  public static let summary = """
    So many packets are missing from a recording because they were not read in time. It is told a second after the \
    first of them; the recording says where they are missing.
    """

  /// The parameters.
  public struct Params: RPCPayload, Hashable {
    /// Its number, 1 or more.
    public var capture: Int
    /// The number of packets, 1 or more.
    public var packets: Int
    /// Makes the params.
    public init(capture: Int, packets: Int) {
      self.capture = capture
      self.packets = packets
    }
  }
}
