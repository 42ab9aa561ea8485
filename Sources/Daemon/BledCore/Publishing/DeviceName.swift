import Bluetooth

/// The document `name` of the store.
struct NameRecord: Codable, Hashable, Sendable {
  /// The name that a program has set; nil if none has.
  var name: String?
}

/// The name under which devices see this machine: that of the configuration, or the one that a program has set.
final class DeviceName {
  /// How long it may be, in octets (Core 5.4, Vol 3, Part C, 12.1).
  static let longest = 248

  /// The name of the configuration.
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

  /// Sets the name, or (nil) returns to that of the configuration.
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
