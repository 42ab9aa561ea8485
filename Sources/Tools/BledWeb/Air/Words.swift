import BledClient

/// The words that pages share with the program that serves them.
public struct Words: Sendable {
  /// The name of a UUID; nil: it has none.
  let name: @Sendable (BluetoothUUID) -> String?
  /// The content of an advertisement.
  let contents: @Sendable (ScanReport.Params) -> [String]

  /// Makes the words.
  public init(
    name: @escaping @Sendable (BluetoothUUID) -> String?,
    contents: @escaping @Sendable (ScanReport.Params) -> [String]
  ) {
    self.name = name
    self.contents = contents
  }
}
