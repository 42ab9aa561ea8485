import ATT
import Adapter
import BledRPC
import Bluetooth

extension LinkSecurity {
  /// The protection as programs see it; nil without encryption.
  var protection: SecurityLevel? {
    switch level {
    case 2: .encrypted
    case 3: .authenticated
    case 4: .secureConnections
    default: nil
    }
  }

  /// The word for it on the socket: "none" without encryption.
  var word: Word<SecurityLevel> { protection.map { Word($0) } ?? "none" }
}

extension SecurityLevel {
  /// The link's level (Core 5.4, Vol 3, Part C, 10.2.1), 2 to 4.
  var level: Int {
    switch self {
    case .encrypted: 2
    case .authenticated: 3
    case .secureConnections: 4
    }
  }
}

extension ChannelSecurity {
  /// The link's level (Core 5.4, Vol 3, Part C, 10.2.1), 1 to 4.
  var level: Int {
    switch self {
    case .none: 1
    case .encrypted: 2
    case .authenticated: 3
    case .secureConnections: 4
    }
  }
}

/// Passkeys and numbers to compare, as people read them: six digits (Core 5.4, Vol 3, Part H, 2.3.5.3).
enum Passkey {
  static func digits(_ number: UInt32) -> String {
    let text = String(number)
    return String(repeating: "0", count: max(0, 6 - text.utf8.count)) + text
  }

  /// The number; nil for anything but one to six digits.
  static func number(_ digits: String?) -> UInt32? {
    guard let digits, (1...6).contains(digits.utf8.count), digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
      return nil
    }
    return UInt32(digits)
  }
}

extension ATTErrorCode {
  /// The link's level at which the request may succeed; nil if there is none.
  /// - Parameter now: the link's level, 1 to 4.
  func level(above now: Int) -> Int? {
    switch self {
    case .insufficientAuthentication: now < 4 ? now + 1 : nil
    // Another key from this bond is not longer.
    case .insufficientEncryption, .encryptionKeySizeTooShort: now < 2 ? 2 : nil
    default: nil
    }
  }
}
