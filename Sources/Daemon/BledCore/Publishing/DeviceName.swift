import Bluetooth

/// The document `name` of the store.
struct NameRecord: Codable, Hashable, Sendable {
  /// The name set by a program; nil if none was.
  var name: String?
}

/// This machine's name as devices see it: the configured one, or one set by a program.
final class DeviceName {
  /// Maximum length in octets (Core 5.4, Vol 3, Part C, 12.1).
  static let longest = 248

  /// The configured name.
  var configured: String
  private var chosen: String?
  private var document: StoredDocument<NameRecord>?

  init(configured: String, store: Store) {
    self.configured = configured
    let document = store.document("name", version: 1) { [unowned self] in NameRecord(name: chosen) }
    self.document = document
    chosen = document.load()?.name.flatMap { Self.isValid($0) ? $0 : nil }
  }

  /// The name in force.
  var current: String { chosen ?? configured }

  /// Sets the name, or (nil) returns to the configured one.
  /// - Throws: `BledError.invalidParameter`.
  func set(_ name: String?) throws(BluetoothError) {
    guard name.map(Self.isValid) ?? true else {
      throw BledError.invalidParameter.error("\"name\" must have 1 to \(Self.longest) octets")
    }
    chosen = name
    document?.changed()
  }

  private static func isValid(_ name: String) -> Bool { (1...longest).contains(name.utf8.count) }
}
