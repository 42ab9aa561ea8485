/// The channels of others whose handshakes are under way, by device.
struct Handshakes {
  /// The handshakes and unanswered invitations of others at a time.
  static let limit = 16
  /// The limit per device, so none can keep all others out.
  static let deviceLimit = 4

  private var counts: [String: Int] = [:]

  var count: Int { counts.values.reduce(0, +) }

  /// - Returns: false if too many are under way.
  mutating func begin(_ device: String) -> Bool {
    guard count < Self.limit, counts[device, default: 0] < Self.deviceLimit else { return false }
    counts[device, default: 0] += 1
    return true
  }

  mutating func end(_ device: String) {
    let rest = counts[device, default: 0] - 1
    counts[device] = rest > 0 ? rest : nil
  }
}
