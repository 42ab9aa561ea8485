import BledRPC
import Bluetooth

/// Which reports of devices become messages. It does no I/O.
///
/// | Device                | Input                              | Output                                          |
/// |-----------------------|------------------------------------|-------------------------------------------------|
/// | new, or other data    | report, a message is left          | the report                                      |
/// | new, or other data    | report, no message is left         | nothing; the newest such report is held         |
/// | same data             | report, `every` has passed         | the report                                      |
/// | same data             | report, `every` has not passed     | nothing                                         |
/// | with a held report    | the time of its next message comes | the held report                                 |
///
/// A device has `burst` messages, and one more after each `interval`; all together have `total` a second. At the limit
/// of devices a quarter of them, those not heard for the longest time, are forgotten: they count as new when they are
/// heard again.
package struct PublishPolicy {
  /// The settings.
  package struct Limits: Hashable, Sendable {
    /// After how long a device whose data has not changed is published again; nil: never.
    package var every: Duration? = .seconds(60)
    /// The pause between messages of a device whose data keeps changing.
    package var interval = Duration.seconds(1)
    /// How many devices are remembered.
    package var devices = 4096
    /// The messages of all devices, for each second.
    package var total = 500

    package init() {}
  }

  /// The messages that a device may have in a row.
  private static let burst: Int64 = 4

  private struct Device {
    var content: Int
    var published: Instant
    var heard: Instant
    /// When its messages are all there again.
    var budget: Budget
    var held: RPCMessage?
  }

  /// Messages that come back with time: one every `pause`, `burst` at the most.
  private struct Budget {
    let pause: Int64
    let burst: Int64
    /// When all of them are there again, in nanoseconds.
    private var full: Int64

    init(pause: Duration, burst: Int64, at now: Instant) {
      self.pause = max(1, min(pause.wholeNanoseconds, 1 << 53))
      self.burst = burst
      full = now.nanoseconds
    }

    /// When there is one.
    var next: Instant { Instant(nanoseconds: full &- pause &* (burst - 1)) }

    mutating func take(at now: Instant) -> Bool {
      guard next <= now else { return false }
      full = max(full, now.nanoseconds) &+ pause
      return true
    }
  }

  private let limits: Limits
  private var devices: [String: Device] = [:]
  /// The devices with a held report, and the time of their next message.
  private var held: [String: Instant] = [:]
  private var total: Budget
  /// Reports that never became a message because all devices together had too many.
  package private(set) var dropped: UInt64 = 0
  /// Devices that were forgotten.
  package private(set) var forgotten: UInt64 = 0

  package init(_ limits: Limits, at now: Instant) {
    self.limits = limits
    let perSecond = Int64(max(1, limits.total))
    total = Budget(pause: .nanoseconds(1_000_000_000 / perSecond), burst: perSecond * 2, at: now)
  }

  /// The number of devices that are remembered.
  package var count: Int { devices.count }

  /// When `due` is to be called; nil: not at all.
  package var deadline: Instant? { held.values.min() }

  /// A device was heard.
  /// - Parameters:
  ///   - outline: the parts that decide; most reports are not published, and are not read any further.
  ///   - report: the whole message, which is held if it cannot be published yet.
  /// - Returns: whether the report is to be published now.
  package mutating func heard(_ outline: ScanReport.Outline, _ report: RPCMessage, at now: Instant) -> Bool {
    let content = Self.content(of: outline)
    let peripheral = outline.peripheral
    guard var device = devices[peripheral] else {
      makeRoom()
      var device = Device(
        content: content, published: now, heard: now,
        budget: Budget(pause: limits.interval, burst: Self.burst, at: now))
      let isPublished = publish(report, of: peripheral, &device, at: now)
      devices[peripheral] = device
      return isPublished
    }
    device.heard = now
    let isChanged = device.content != content
    let isDue = limits.every.map { device.published.advanced(by: $0) <= now } ?? false
    var isPublished = false
    if isChanged || isDue {
      device.content = content
      isPublished = publish(report, of: peripheral, &device, at: now)
    } else if device.held != nil {
      // With the newest signal strength.
      device.held = report
    }
    devices[peripheral] = device
    return isPublished
  }

  /// The held reports whose time has come, those that wait longest first.
  package mutating func due(at now: Instant) -> [RPCMessage] {
    let ready = held.filter { $0.value <= now }.sorted { ($0.value, $0.key) < ($1.value, $1.key) }
    var reports: [RPCMessage] = []
    for (peripheral, _) in ready {
      held[peripheral] = nil
      guard var device = devices[peripheral], let report = device.held else { continue }
      device.held = nil
      if publish(report, of: peripheral, &device, at: now) { reports.append(report) }
      devices[peripheral] = device
    }
    return reports
  }

  private mutating func publish(
    _ report: RPCMessage, of peripheral: String, _ device: inout Device, at now: Instant
  ) -> Bool {
    guard device.budget.take(at: now) else {
      device.held = report
      held[peripheral] = device.budget.next
      return false
    }
    device.held = nil
    held[peripheral] = nil
    guard total.take(at: now) else {
      dropped &+= 1
      return false
    }
    device.published = now
    return true
  }

  private mutating func makeRoom() {
    guard devices.count >= limits.devices else { return }
    let oldest = devices.sorted { ($0.value.heard, $0.key) < ($1.value.heard, $1.key) }.prefix(limits.devices / 4 + 1)
    for (peripheral, _) in oldest {
      devices[peripheral] = nil
      held[peripheral] = nil
      forgotten &+= 1
    }
  }

  /// A hash of the data of a report, without signal strength and time.
  private static func content(of report: ScanReport.Outline) -> Int {
    var hasher = Hasher()
    hasher.combine(report.data.octets)
    hasher.combine(report.scanResponse?.octets)
    hasher.combine(report.address.utf8.count)
    for octet in report.address.utf8 { hasher.combine(octet) }
    return hasher.finalize()
  }
}
