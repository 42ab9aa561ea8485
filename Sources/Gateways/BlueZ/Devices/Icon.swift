/// Names of icons for the appearance of a device (Assigned Numbers, 2.6), from the freedesktop icon naming
/// specification.
enum Icon {
  /// - Parameter appearance: 0 to 65535; its upper ten bits are the category.
  /// - Returns: nil without an icon for it.
  static func name(_ appearance: Int) -> String? {
    switch appearance >> 6 {
    case 0x01: "phone"
    case 0x02: "computer"
    case 0x05: "video-display"
    case 0x0A: "multimedia-player"
    case 0x0B: "scanner"
    case 0x0F: human(appearance & 0x3F)
    default: nil
    }
  }

  /// Human interface devices.
  private static func human(_ subcategory: Int) -> String? {
    switch subcategory {
    case 0x01: "input-keyboard"
    case 0x02: "input-mouse"
    case 0x03, 0x04: "input-gaming"
    case 0x05: "input-tablet"
    case 0x08: "scanner"
    default: nil
    }
  }
}
