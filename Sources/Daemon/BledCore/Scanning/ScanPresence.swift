import Bluetooth
import HeapModule

/// The devices in the range of one scan: by hysteresis of the signal strength, and by time.
///
/// | Its device is   | Input                            | It is then | Over                                         |
/// |-----------------|----------------------------------|------------|----------------------------------------------|
/// | unknown, or out | received, strong enough to enter | in         | unknown: the quietest, if there are too many |
/// | unknown, or out | received, weaker                 | the same   |                                              |
/// | in              | received, strong enough to stay  | in         |                                              |
/// | in              | received, weaker                 | out        |                                              |
/// | in, or out      | `deadline` has passed            | unknown    | it is lost                                   |
///
/// Only reports that pass the scan's filters count. A device is lost when its timeout since the last report in range
/// has passed. Without a timeout nothing is ever lost, and a device out of range is unknown.
struct ScanPresence<Device: Hashable> {
  /// Maximum devices.
  static var limit: Int { 1024 }

  /// An advertisement's effect.
  struct Verdict: Equatable {
    /// True if the scan gets it.
    var isIn: Bool
    /// True if the device was in range, and has to enter anew.
    var leaves = false
    /// The device lost to make room: the longest unseen one.
    var lost: Lost?
  }

  /// A lost device.
  struct Lost: Hashable {
    var device: Device
    /// When it was last seen in range.
    var lastHeard: Instant
  }

  private struct Entry {
    var lastHeard: Instant
    var isIn = true
  }

  /// The earliest loss of a device. It is outdated if the device was seen since.
  private struct Check: Comparable {
    let time: Instant
    let device: Device

    static func < (left: Check, right: Check) -> Bool { left.time < right.time }
    static func == (left: Check, right: Check) -> Bool { left.time == right.time }
  }

  private let gate: SignalGate
  private let timeout: Duration?
  private var entries: [Device: Entry] = [:]
  /// One per entry, if there is a timeout.
  private var checks = Heap<Check>()

  /// - Parameter timeout: the time without reception until a device is lost; nil: never.
  init(gate: SignalGate, timeout: Duration?) {
    self.gate = gate
    self.timeout = timeout
  }

  /// When `tick` may have something to do. Until then it does not become earlier.
  var deadline: Instant? { checks.min?.time }

  /// An advertisement that passes the filters was received.
  mutating func received(_ device: Device, rssi: Int?, at now: Instant) -> Verdict {
    guard let entry = entries[device] else {
      guard gate.admits(rssi, isIn: false) else { return Verdict(isIn: false) }
      return Verdict(isIn: true, lost: enter(device, at: now))
    }
    guard gate.admits(rssi, isIn: entry.isIn) else {
      if timeout == nil { entries[device] = nil } else { entries[device]?.isIn = false }
      return Verdict(isIn: false, leaves: entry.isIn && gate.hasHysteresis)
    }
    entries[device] = Entry(lastHeard: now)
    return Verdict(isIn: true)
  }

  /// The deadline has passed.
  /// - Returns: the lost devices, in the order of their first reports.
  mutating func tick(at now: Instant) -> [Lost] {
    var lost: [Lost] = []
    while let time = nextLoss(), time <= now, let next = dropQuietest() { lost.append(next) }
    return lost
  }

  /// A loss had no room for its report: the device is lost again after the timeout, if there is room.
  mutating func postpone(_ lost: Lost, at now: Instant) {
    guard entries[lost.device] == nil, entries.count < Self.limit else { return }
    _ = enter(lost.device, at: now)
    entries[lost.device]?.isIn = false
  }

  mutating func removeAll() {
    entries = [:]
    checks = []
  }

  private mutating func enter(_ device: Device, at now: Instant) -> Lost? {
    var lost: Lost?
    if entries.count >= Self.limit {
      if timeout == nil {
        // Devices between the thresholds have to enter anew.
        entries = [:]
      } else if nextLoss() != nil {
        lost = dropQuietest()
      }
    }
    entries[device] = Entry(lastHeard: now)
    if let timeout { checks.insert(Check(time: now.advanced(by: timeout), device: device)) }
    return lost
  }

  /// Brings the check of the longest unseen device to the top.
  /// - Returns: the time of the next loss.
  private mutating func nextLoss() -> Instant? {
    guard let timeout else { return nil }
    while let check = checks.min, let entry = entries[check.device] {
      let time = entry.lastHeard.advanced(by: timeout)
      guard time > check.time else { return time }
      checks.replaceMin(with: Check(time: time, device: check.device))
    }
    return nil
  }

  private mutating func dropQuietest() -> Lost? {
    guard let check = checks.popMin(), let entry = entries.removeValue(forKey: check.device) else { return nil }
    return Lost(device: check.device, lastHeard: entry.lastHeard)
  }
}
