import Bluetooth

/// Under which name a session is kept: a user cannot take what is another user's.
struct RestorationKey: Hashable {
  /// How long an identifier may be, in octets.
  static let longest = 128

  /// Who the program runs as; nil where the transport does not know.
  let user: UInt32?
  /// What the program chose.
  let identifier: String

  /// - Throws: `BledError.invalidParameter`.
  init(_ identifier: String, user: UInt32?) throws(BluetoothError) {
    guard (1...Self.longest).contains(identifier.utf8.count), identifier.unicodeScalars.allSatisfy({ $0.value >= 0x20 })
    else {
      throw BledError.invalidParameter.error(
        "\"restore\" must have 1 to \(Self.longest) octets and no control characters")
    }
    self.user = user
    self.identifier = identifier
  }
}
