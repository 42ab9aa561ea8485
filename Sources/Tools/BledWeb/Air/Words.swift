import BledClient
import ValueFormats

/// The words that pages share with the program that serves them.
public struct Words: Sendable {
  /// The name of a UUID; nil for none.
  let name: @Sendable (BluetoothUUID) -> String?
  /// The content of an advertisement.
  let contents: @Sendable (ScanReport.Params) -> [String]
  /// The names and formats that the user gives.
  let names: NameList

  /// Makes the words.
  public init(
    name: @escaping @Sendable (BluetoothUUID) -> String?,
    contents: @escaping @Sendable (ScanReport.Params) -> [String], names: NameList
  ) {
    (self.name, self.names) = (name, names)
    self.contents = contents
  }
}
