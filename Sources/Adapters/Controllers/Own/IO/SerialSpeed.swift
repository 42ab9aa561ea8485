import Glibc

/// A speed of a serial line that controllers use, as termios(3) has it.
struct SerialSpeed {
  /// Each speed in Bd, and its constant, whose type depends on the release of glibc.
  private static let all: [(UInt32, speed_t)] = [
    (115_200, speed_t(B115200)), (230_400, speed_t(B230400)), (460_800, speed_t(B460800)),
    (500_000, speed_t(B500000)), (921_600, speed_t(B921600)), (1_000_000, speed_t(B1000000)),
    (1_500_000, speed_t(B1500000)), (2_000_000, speed_t(B2000000)), (3_000_000, speed_t(B3000000)),
    (4_000_000, speed_t(B4000000)),
  ]

  /// The constant.
  let constant: speed_t

  /// Nil for other speeds.
  init?(_ speed: UInt32) {
    guard let entry = Self.all.first(where: { $0.0 == speed }) else { return nil }
    constant = entry.1
  }

  /// The speeds, for an error.
  static var words: String { all.map { "\($0.0)" }.joined(separator: ", ") }
}
