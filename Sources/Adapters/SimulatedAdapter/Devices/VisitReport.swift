import Bluetooth

/// The steps of a phone's visit, and how it ended.
public struct VisitReport: Sendable {
  /// One thing that happened.
  public struct Step: Hashable, Sendable {
    /// When, in seconds since 1970.
    public let time: Double
    /// "discover" for each characteristic that it found, the word of a step of the script, or "value" for one that it
    /// was sent.
    public let action: String
    /// The characteristic; nil if it is about none.
    public let characteristic: BluetoothUUID?
    /// The value that was read or sent.
    public let value: [UInt8]?
    /// Why it failed; nil if it did not.
    public let error: BluetoothError?
  }

  /// How many steps are kept.
  static let capacity = 1000

  /// The first steps, in order.
  public internal(set) var steps: [Step] = []
  /// Whether the link lasted to the end of the script.
  public internal(set) var isComplete = false
}
