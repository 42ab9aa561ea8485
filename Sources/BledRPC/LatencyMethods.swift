/// How quick a connection ought to be.
public enum ConnectionLatency: String, Codable, Sendable, CaseIterable {
  /// Quick and dear: 15 to 30 ms between two connection events.
  case low
  /// 90 to 120 ms.
  case medium
  /// Slow and cheap: 480 to 510 ms.
  case high

  /// Reads one of the words.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    guard let latency = Self(rawValue: try container.decode(String.self)) else {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: "give low, medium or high")
    }
    self = latency
  }
}

/// Asks for a quicker or a cheaper connection.
public enum ServerSetLatency: ClientCall {
  /// Nothing comes back.
  public typealias Result = Empty
  /// `server.setLatency`
  public static let name = "server.setLatency"
  /// What a caller must be permitted.
  public static let permission: Permission? = .serve
  /// For `rpc.discover`.
  public static let summary = """
    Asks a device that connected to this machine for a quicker ("low": 15 to 30 ms between two connection events) or a cheaper \
    connection ("medium": 90 to 120 ms, "high": 480 to 510 ms). The device decides; the answer says that it was asked.
    """
  /// What the caller sends.
  public struct Params: RPCPayload {
    /// The daemon's identifier of the device, as in `server.subscribed`.
    public var central: String
    /// What is wished for.
    public var latency: ConnectionLatency
    /// Makes the params.
    public init(central: String, latency: ConnectionLatency) {
      self.central = central
      self.latency = latency
    }
  }
}
