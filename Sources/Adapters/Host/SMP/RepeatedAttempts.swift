import Bluetooth

/// The devices whose last pairings failed, and the time until the next one (Core 5.4, Vol 3, Part
/// H, 2.3.6): a second after the first failure, twice as long after each further one, at most 64 seconds. Each 64
/// seconds without a failure halve it again.
package struct RepeatedAttempts: Sendable {
  private struct Attempts: Sendable {
    var failures: Int
    var until: Instant
  }

  /// More devices than fail at the same time. A further one replaces the one that may pair first.
  private static let maximum = 64
  private static let longest = Duration.seconds(64)

  private var devices: [DeviceAddress: Attempts] = [:]

  package init() {}

  /// A pairing with a device failed.
  package mutating func failed(_ peer: DeviceAddress, now: Instant) {
    if devices[peer] == nil, devices.count >= Self.maximum,
      let first = devices.min(by: { $0.value.until < $1.value.until })?.key
    {
      devices[first] = nil
    }
    let quiet = devices[peer].map { Int($0.until.duration(to: now) / Self.longest) } ?? 0
    let failures = min(max((devices[peer]?.failures ?? 0) - max(quiet, 0), 0) + 1, 7)
    let wait = min(Duration.seconds(1 << (failures - 1)), Self.longest)
    devices[peer] = Attempts(failures: failures, until: now.advanced(by: wait))
  }

  /// A pairing with a device succeeded.
  package mutating func succeeded(_ peer: DeviceAddress) { devices[peer] = nil }

  /// Until when a device has to wait; nil if it need not.
  package func wait(of peer: DeviceAddress, now: Instant) -> Instant? {
    devices[peer].flatMap { now < $0.until ? $0.until : nil }
  }
}
