import Glibc

/// A speed of a serial line that controllers use, as termios(3) has it.
struct SerialSpeed {
  /// Each speed in Bd, and its constant.
  private static let all: [(UInt32, Int32)] = [
    (115_200, B115200), (230_400, B230400), (460_800, B460800), (500_000, B500000), (921_600, B921600),
    (1_000_000, B1000000), (1_500_000, B1500000), (2_000_000, B2000000), (3_000_000, B3000000), (4_000_000, B4000000),
  ]

  /// The constant.
  let constant: speed_t

  /// Nil for other speeds.
  init?(_ speed: UInt32) {
    guard let entry = Self.all.first(where: { $0.0 == speed }) else { return nil }
    constant = speed_t(entry.1)
  }

  /// The speeds, for an error.
  static var words: String { all.map { "\($0.0)" }.joined(separator: ", ") }
}
