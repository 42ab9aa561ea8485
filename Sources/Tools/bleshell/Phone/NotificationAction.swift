import Bluetooth
import PhoneServices

/// An action of a notification, as a person names it: "positive 7".
struct NotificationAction: Hashable {
  static let names = ["positive", "negative"]

  let notification: UInt32
  let isPositive: Bool

  /// - Returns: nil without a name and a number.
  init?(_ words: some Collection<String>) {
    let words = Array(words)
    guard words.count == 2, Self.names.contains(words[0]), let number = UInt32(words[1]) else { return nil }
    (notification, isPositive) = (number, words[0] == Self.names[0])
  }

  var name: String { Self.names[isPositive ? 0 : 1] }
  var opposite: String { Self.names[isPositive ? 1 : 0] }
}

extension NotificationCommand {
  /// The meaning of a phone's error; nil for errors that do not belong to ANCS.
  static func refusal(_ error: BluetoothError) -> String? {
    error.domain == .att ? UInt8(exactly: error.code).flatMap { refusal($0) } : nil
  }
}
