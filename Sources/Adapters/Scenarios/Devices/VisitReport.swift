import Bluetooth

/// The steps of a phone's visit, and its end.
public struct VisitReport: Sendable {
  /// A step that happened.
  public struct Step: Hashable, Sendable {
    /// The time, in seconds since 1970.
    public let time: Double
    /// "discover" for each discovered characteristic, the word of a step of the script, or "value" for a received one.
    public let action: String
    /// The characteristic; nil if the step concerns none.
    public let characteristic: BluetoothUUID?
    /// The value that was read or sent.
    public let value: [UInt8]?
    /// The reason for its failure; nil without one.
    public let error: BluetoothError?
  }

  /// Maximum steps kept.
  static let capacity = 1000

  /// The first steps, in order.
  public internal(set) var steps: [Step] = []
  /// True if the link lasted to the end of the script.
  public internal(set) var isComplete = false
}
