import Bluetooth

/// The reason for a link's end, with the names and texts of BlueZ (org.bluez.Device, Disconnected).
struct LinkEndReason {
  let name: String
  let text: String

  private init(_ name: String, _ text: String) { (self.name, self.text) = (name, text) }

  static let local = LinkEndReason("Local", "Connection terminated by local host")
  static let unknown = LinkEndReason("Unknown", "Unspecified")
  private static let timeout = LinkEndReason("Timeout", "Connection timeout")
  private static let remote = LinkEndReason("Remote", "Connection terminated by remote user")
  private static let authentication = LinkEndReason("Authentication", "Connection terminated due to authentication")

  /// - Parameter error: nil for a program that has disconnected.
  init(_ error: BluetoothError?) {
    guard let error else {
      self = .local
      return
    }
    switch (error.domain, error.code) {
    case (.hci, 0x08): self = .timeout
    case (.hci, 0x13), (.hci, 0x14), (.hci, 0x15): self = .remote
    case (.hci, 0x16): self = .local
    case (.hci, 0x05), (.hci, 0x06), (.hci, 0x3D): self = .authentication
    default: self = .unknown
    }
  }
}
