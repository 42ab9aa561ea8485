/// The part of a device that outlasts its object and the process: properties set by programs, and an earlier
/// connection.
package struct DeviceSettings: Codable, Hashable, Sendable {
  package var isTrusted = false
  package var alias: String?
  /// True if it was connected; missing in files of earlier releases.
  package var wasConnected: Bool?
  /// Greater than the order of all devices set before; missing in files of earlier releases.
  package var order: Int?

  package init() {}

  /// The longest alias in octets: the limit of a Device Name (Core 5.4, Vol 3, Part C, 12.1).
  static let longestAlias = 248

  var isDefault: Bool { !isTrusted && alias == nil && wasConnected != true }

  var isValid: Bool { (alias?.utf8.count ?? 0) <= Self.longestAlias }
}
