import Bluetooth

/// The devices whose last pairings failed, and the time until the next one (Core 5.4, Vol 3, Part
/// H, 2.3.6): a second after the first failure, twice as long after each further one, at most 64 seconds. Each 64
/// seconds without a failure halve it again.
///
/// A device can take a new address for each attempt. So the first failures of all devices are counted together as well,
/// of which eight are free. That wait is for devices that begin to pair, not for devices that this machine asks to.
package struct RepeatedAttempts: Sendable {
  private struct Attempts: Sendable {
    var failures = 0
    var until = Instant.zero

    /// One more attempt failed.
    /// - Parameter free: after how many failures there is no wait.
    mutating func fail(free: Int, at now: Instant) {
      let quiet = failures > 0 ? Int(until.duration(to: now) / RepeatedAttempts.longest) : 0
      failures = min(max(failures - max(quiet, 0), 0) + 1, free + 7)
      until = failures > free ? now.advanced(by: .seconds(1 << (failures - free - 1))) : now
    }
  }

  /// More devices than ever fail simultaneously. A further one replaces the device that may pair next.
  private static let maximum = 64
  private static let longest = Duration.seconds(64)
  private static let freeOfAll = 8

  private var devices: [DeviceAddress: Attempts] = [:]
  private var all = Attempts()

  package init() {}

  /// A pairing with a device failed.
  package mutating func failed(_ peer: DeviceAddress, now: Instant) {
    if devices[peer] == nil, devices.count >= Self.maximum,
      let first = devices.min(by: { $0.value.until < $1.value.until })?.key
    {
      devices[first] = nil
    }
    if devices[peer] == nil { all.fail(free: Self.freeOfAll, at: now) }
    devices[peer, default: Attempts()].fail(free: 0, at: now)
  }

  /// A pairing with a device succeeded.
  package mutating func succeeded(_ peer: DeviceAddress) { devices[peer] = nil }

  /// Until when a device has to wait; nil if it need not.
  /// - Parameter isWanted: true if this machine asks for the pairing.
  package func wait(of peer: DeviceAddress, isWanted: Bool = false, now: Instant) -> Instant? {
    let end = max(isWanted ? .zero : all.until, devices[peer]?.until ?? .zero)
    return now < end ? end : nil
  }
}
