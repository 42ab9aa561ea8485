/// The latency that is requested of a connection.
public enum ConnectionLatency: String, Codable, Sendable, CaseIterable {
  /// Low latency at the cost of power: 15 to 30 ms between two connection events.
  case low
  /// 90 to 120 ms.
  case medium
  /// High latency to save power: 480 to 510 ms.
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

/// Asks a central for other connection parameters.
public enum ServerSetLatency: ClientCall {
  /// The result is empty.
  public typealias Result = Empty
  /// `server.setLatency`
  public static let name = "server.setLatency"
  /// The permission that the caller needs.
  public static let permission: Permission? = .serve
  /// For `rpc.discover`.
  public static let summary = """
    Asks a device that connected to this machine for another connection interval: "low" latency (15 to 30 ms), or \
    "medium" (90 to 120 ms) or "high" (480 to 510 ms) to save power. The device decides; the call answers once the \
    request is sent.
    """
  /// The parameters.
  public struct Params: Codable, Sendable {
    /// The daemon's identifier of the device, as in `server.subscribed`.
    public var central: String
    /// The requested latency.
    public var latency: ConnectionLatency
    /// Makes the params.
    public init(central: String, latency: ConnectionLatency) {
      self.central = central
      self.latency = latency
    }
  }
}
