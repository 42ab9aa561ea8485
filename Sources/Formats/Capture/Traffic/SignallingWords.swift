/// The names of L2CAP signalling packets on LE links (Core 5.4, Vol 3, Part A, 4).
enum SignallingWords {
  private static let titles: [UInt8: String] = [
    0x01: "Command Reject", 0x06: "Disconnection Request", 0x07: "Disconnection Response",
    0x12: "Connection Parameter Update Request", 0x13: "Connection Parameter Update Response",
    0x14: "Credit Based Connection Request", 0x15: "Credit Based Connection Response", 0x16: "Flow Control Credit",
    0x17: "Enhanced Credit Based Connection Request", 0x18: "Enhanced Credit Based Connection Response",
    0x19: "Credit Based Reconfigure Request", 0x1A: "Credit Based Reconfigure Response",
  ]

  /// A packet's name.
  static func title(_ packet: [UInt8]) -> String {
    guard let code = packet.first else { return "an empty packet of L2CAP" }
    return titles[code] ?? "L2CAP signal \(code)"
  }
}

/// The names of Security Manager packets (Core 5.4, Vol 3, Part H, 3.3), whose contents are not shown.
enum SecurityWords {
  private static let titles: [UInt8: String] = [
    0x01: "Pairing Request", 0x02: "Pairing Response", 0x03: "Pairing Confirm", 0x04: "Pairing Random",
    0x05: "Pairing Failed", 0x06: "Encryption Information", 0x07: "Central Identification",
    0x08: "Identity Information", 0x09: "Identity Address Information", 0x0A: "Signing Information",
    0x0B: "Security Request", 0x0C: "Pairing Public Key", 0x0D: "Pairing DHKey Check",
    0x0E: "Pairing Keypress Notification",
  ]

  /// A packet's name, with the reason in Pairing Failed (3.5.5).
  static func title(_ packet: [UInt8]) -> String {
    guard let code = packet.first else { return "an empty packet of the Security Manager" }
    let title = titles[code] ?? "Security Manager \(code)"
    guard code == 0x05, let reason = packet.dropFirst().first else { return title }
    return "\(title): reason \(reason)"
  }
}
