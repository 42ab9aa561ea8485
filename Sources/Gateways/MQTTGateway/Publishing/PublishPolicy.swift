import BledRPC
import Bluetooth
import DequeModule

/// Selects the reports of devices that become messages. It does no I/O.
///
/// | Device                | Input                              | Output                                          |
/// |-----------------------|------------------------------------|-------------------------------------------------|
/// | new, or other data    | report, a message is left          | the report                                      |
/// | new, or other data    | report, no message is left         | nothing; the newest such report is held         |
/// | same data             | report, `every` has passed         | the report                                      |
/// | same data             | report, `every` has not passed     | nothing                                         |
/// | with a held report    | the time of its next message       | the held report                                 |
/// | any                   | nothing that was published arrived | nothing; its next report counts as new          |
///
/// A device has `burst` messages, and one more after each `interval`; all together have `total` a second. At the limit
/// of devices a quarter of them, those silent for the longest time, are forgotten: they count as new when they are
/// received again.
package struct PublishPolicy {
  /// The settings.
  package struct Limits: Hashable, Sendable {
    /// The interval at which a device with unchanged data is published again; nil: never.
    package var every: Duration? = .seconds(60)
    /// The pause between messages of a device whose data keeps changing.
    package var interval = Duration.seconds(1)
    /// Maximum remembered devices.
    package var devices = 4096
    /// The messages of all devices, for each second.
    package var total = 500

    package init() {}
  }

  /// The messages that a device may have in a row.
  private static let burst: Int64 = 4

  private struct Device {
    /// Nil if nothing was published about it.
    var content: Int?
    var published: Instant
    var heard: Instant
    /// The time at which all its messages are available again.
    var budget: Budget
    var held: RPCMessage?

    mutating func publish(at now: Instant) {
      _ = budget.take(at: now)
      (published, held) = (now, nil)
    }
  }

  /// Messages that become available with time: one every `pause`, `burst` at the most.
  private struct Budget {
    let pause: Int64
    let burst: Int64
    /// The time at which all of them are available again, in nanoseconds.
    private var full: Int64

    init(pause: Duration, burst: Int64, at now: Instant) {
      self.pause = max(1, min(pause.wholeNanoseconds, 1 << 53))
      self.burst = burst
      full = now.nanoseconds
    }

    /// The time at which one is available.
    var next: Instant { Instant(nanoseconds: full &- pause &* (burst - 1)) }

    mutating func take(at now: Instant) -> Bool {
      guard next <= now else { return false }
      full = max(full, now.nanoseconds) &+ pause
      return true
    }
  }

  private let limits: Limits
  private var devices: [String: Device] = [:]
  /// The devices with a held report that have no message left, and the time of their next one.
  private var held: [String: Instant] = [:]
  /// The devices with a held report that wait for a message of all devices, in their order.
  private var waiting: Deque<String> = []
  private var total: Budget
  /// Held reports that never became a message, as their device was forgotten.
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

  /// The time at which `due` is to be called; nil: not at all.
  package var deadline: Instant? {
    let next = held.values.min()
    return waiting.isEmpty ? next : min(total.next, next ?? total.next)
  }

  /// A device was received.
  /// - Parameters:
  ///   - outline: the parts that decide; most reports are not published, and are not read any further.
  ///   - report: the whole message, which is held if it cannot be published yet.
  /// - Returns: true if the report is to be published now.
  package mutating func received(_ outline: ScanReport.Outline, _ report: RPCMessage, at now: Instant) -> Bool {
    let content = Self.content(of: outline)
    let peripheral = outline.peripheral
    if devices[peripheral] == nil { makeRoom() }
    var device =
      devices[peripheral]
      ?? Device(published: now, heard: now, budget: Budget(pause: limits.interval, burst: Self.burst, at: now))
    defer { devices[peripheral] = device }
    device.heard = now
    guard device.held == nil else {
      // With the newest data and signal strength.
      (device.content, device.held) = (content, report)
      return false
    }
    let isDue = limits.every.map { device.published.advanced(by: $0) <= now } ?? false
    guard device.content != content || isDue else { return false }
    device.content = content
    if device.budget.next > now {
      device.held = report
      held[peripheral] = device.budget.next
    } else if waiting.isEmpty, total.take(at: now) {
      device.publish(at: now)
      return true
    } else {
      device.held = report
      waiting.append(peripheral)
    }
    return false
  }

  /// The held reports that are due, the longest held first.
  package mutating func due(at now: Instant) -> [RPCMessage] {
    let ready = held.filter { $0.value <= now }.sorted { ($0.value, $0.key) < ($1.value, $1.key) }
    for (peripheral, _) in ready {
      held[peripheral] = nil
      waiting.append(peripheral)
    }
    var reports: [RPCMessage] = []
    while let peripheral = waiting.first {
      guard var device = devices[peripheral], let report = device.held else {
        waiting.removeFirst()
        continue
      }
      guard total.take(at: now) else { break }
      waiting.removeFirst()
      device.publish(at: now)
      devices[peripheral] = device
      reports.append(report)
    }
    return reports
  }

  /// No published message is certain to have arrived: the next report of each device counts as new.
  package mutating func publishAgain() {
    for peripheral in devices.keys { devices[peripheral]?.content = nil }
  }

  private mutating func makeRoom() {
    guard devices.count >= limits.devices else { return }
    let oldest = devices.sorted { ($0.value.heard, $0.key) < ($1.value.heard, $1.key) }.prefix(limits.devices / 4 + 1)
    for (peripheral, device) in oldest {
      devices[peripheral] = nil
      held[peripheral] = nil
      forgotten &+= 1
      if device.held != nil { dropped &+= 1 }
    }
    waiting.removeAll { devices[$0] == nil }
  }

  /// A hash of a report's data, without signal strength and time.
  private static func content(of report: ScanReport.Outline) -> Int {
    var hasher = Hasher()
    hasher.combine(report.data.octets)
    hasher.combine(report.scanResponse?.octets)
    hasher.combine(report.address.utf8.count)
    for octet in report.address.utf8 { hasher.combine(octet) }
    return hasher.finalize()
  }
}
