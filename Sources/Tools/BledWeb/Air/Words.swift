import BledClient
import ValueFormats

/// The words that pages share with the program that serves them.
public struct Words: Sendable {
  /// The name of a UUID; nil for none.
  let name: @Sendable (BluetoothUUID) -> String?
  /// The content of an advertisement.
  let contents: @Sendable (ScanReport.Params) -> [String]
  /// The name of a user of the machine; nil: the number has none.
  let user: @Sendable (Int) -> String?
  /// The names and formats that the user gives, as they are now.
  let names: @MainActor () -> NameList
  /// Gives a key another name or format, where it is not nil.
  let rename: @MainActor (NameList.Key, _ name: String?, _ format: String?) throws(BluetoothError) -> Void

  /// Makes the words.
  public init(
    name: @escaping @Sendable (BluetoothUUID) -> String?,
    contents: @escaping @Sendable (ScanReport.Params) -> [String],
    user: @escaping @Sendable (Int) -> String?,
    names: @escaping @MainActor () -> NameList,
    rename: @escaping @MainActor (NameList.Key, _ name: String?, _ format: String?) throws(BluetoothError) -> Void
  ) {
    (self.name, self.contents, self.user) = (name, contents, user)
    (self.names, self.rename) = (names, rename)
  }
}
