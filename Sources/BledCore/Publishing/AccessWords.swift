import Bluetooth
import GATT

/// The demands on links in a client's words for permissions.
struct AccessWords {
  /// For the value.
  private(set) var value = AttributePermissions()
  /// For subscribing; nil for what the value demands.
  private(set) var subscribe: AccessRequirement?

  private static let levels: [(suffix: String, requirement: AccessRequirement)] = [
    ("EncryptionRequired", .encrypted), ("AuthenticationRequired", .authenticated),
    ("SecureConnectionsRequired", .secureConnections),
  ]

  /// Reads the words; of several that concern the same the strictest holds.
  /// - Parameter minimumKeySize: in octets, 7 to 16; nil for any key.
  /// - Throws: `BledError.invalidParameter` for other words, and for a size that no key has.
  init(_ words: [String], minimumKeySize: Int? = nil) throws {
    guard (7...16).contains(minimumKeySize ?? 7) else {
      throw BledError.invalidParameter.error("\"minimumKeySize\" must be 7 to 16 octets")
    }
    for word in words {
      if word.hasSameOctets(as: "readable") {
        value.read = value.read ?? .open
      } else if word.hasSameOctets(as: "writeable") {
        value.write = value.write ?? .open
      } else {
        try add(word, minimumKeySize ?? 7)
      }
    }
  }

  private mutating func add(_ word: String, _ keySize: Int) throws {
    for (suffix, level) in Self.levels {
      var requirement = level
      requirement.minimumKeySize = UInt8(keySize)
      for (verb, path) in [("read", \Self.value.read), ("write", \.value.write), ("subscribe", \.subscribe)]
      where word.hasSameOctets(as: verb + suffix) {
        if self[keyPath: path]?.level ?? 0 < requirement.level { self[keyPath: path] = requirement }
        return
      }
    }
    let known = Self.levels.map { "read\($0.suffix)" }.joined(separator: ", ")
    throw BledError.invalidParameter.error(
      "\"\(word.excerpt)\" is not a permission: use some of readable, writeable, \(known), and the same with \"write\" "
        + "and \"subscribe\"")
  }
}
