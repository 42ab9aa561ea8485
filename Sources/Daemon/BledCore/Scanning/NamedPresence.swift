import Bluetooth

/// The devices named by a scan that are present; each change is reported once: by advertisements, or by the controller
/// while it watches for them.
///
/// | Its device is      | Input                               | It is then          | Over                 |
/// |--------------------|-------------------------------------|---------------------|----------------------|
/// | away               | received, strong enough to enter    | there               | it is found          |
/// | there              | received, strong enough to stay     | there               |                      |
/// | there              | not so for the time                 | away                | it is lost           |
/// | there or away      | the controller says which           | that                | it is found, or lost |
/// | there              | `forget`                            | away                | it is lost           |
/// | there              | `monitorChanged(true)`                    | there, unconfirmed  |                      |
/// | there, unconfirmed | received as listed; the controller reports it | there, watched      |                      |
/// | there, watched     | the time                            | the same            |                      |
/// | there, watched     | `monitorChanged(false)`                   | there, for the full time again |                      |
///
/// A change without room for its report is repeated a second later, unless it is undone before.
struct NamedPresence<Device: Hashable> {
  /// A device was found or lost.
  struct Change: Hashable {
    var device: Device
    var isThere: Bool
    /// When it was last seen with sufficient strength; for a device lost by the controller, the latest possible time.
    var lastHeard: Instant
  }

  private struct Entry {
    var lastHeard: Instant
    var isThere = true
    /// True if the controller reports its loss.
    var isWatched = false
    /// When to repeat a failed report.
    var retry: Instant?
  }

  private static var retryTime: Duration { .seconds(1) }

  private let gate: SignalGate
  private let timeout: Duration
  private var entries: [Device: Entry] = [:]
  private(set) var isWatching = false

  /// - Parameter timeout: the time without reception until a device is lost.
  init(gate: SignalGate, timeout: Duration) {
    self.gate = gate
    self.timeout = timeout
  }

  /// The devices present, or whose loss was not reported yet.
  var devices: some Collection<Device> { entries.keys }

  /// When `tick` has something to do. Only a failed report makes it earlier.
  var deadline: Instant? { entries.values.compactMap(deadline).min() }

  private func deadline(of entry: Entry) -> Instant? {
    entry.retry ?? (entry.isThere && !entry.isWatched ? entry.lastHeard.advanced(by: timeout) : nil)
  }

  /// An advertisement that passes the filters was received.
  /// - Parameter isListed: true if the controller, when it watches, watches its address.
  mutating func received(_ device: Device, rssi: Int?, isListed: Bool = true, at now: Instant) -> Change? {
    guard gate.admits(rssi, isIn: entries[device]?.isThere ?? false) else { return nil }
    return found(device, isWatched: isWatching && isListed, at: now)
  }

  /// The controller reported a device found or lost.
  mutating func monitorReported(_ device: Device, isThere: Bool, at now: Instant) -> Change? {
    guard !isThere else { return found(device, isWatched: isWatching, at: now) }
    guard let entry = entries[device], entry.isThere else { return nil }
    return lose(device, lastHeard: max(entry.lastHeard, now.advanced(by: .zero - timeout)))
  }

  /// The controller watches from now on, or no longer: a watched device has its full time again.
  mutating func monitorChanged(_ isWatching: Bool, at now: Instant) {
    guard isWatching || self.isWatching else { return }
    self.isWatching = isWatching
    for (device, entry) in entries where entry.isThere && entry.isWatched {
      entries[device]?.isWatched = false
      entries[device]?.lastHeard = now
    }
  }

  /// The deadline has passed.
  mutating func tick(at now: Instant) -> [Change] {
    var changes: [Change] = []
    for (device, entry) in entries {
      guard let deadline = deadline(of: entry), deadline <= now else { continue }
      if entry.retry == nil {
        lose(device, lastHeard: entry.lastHeard).map { changes.append($0) }
      } else {
        entries[device]?.retry = nil
        if !entry.isThere { entries[device] = nil }
        changes.append(Change(device: device, isThere: entry.isThere, lastHeard: entry.lastHeard))
      }
    }
    return changes
  }

  /// A change's report had no room.
  mutating func failed(_ change: Change, at now: Instant) {
    let isWatched = entries[change.device]?.isWatched ?? false
    entries[change.device] = Entry(
      lastHeard: change.lastHeard, isThere: change.isThere, isWatched: isWatched,
      retry: now.advanced(by: Self.retryTime))
  }

  /// A device was forgotten.
  mutating func forget(_ device: Device) -> Change? {
    guard let entry = entries[device] else { return nil }
    return lose(device, lastHeard: entry.lastHeard)
  }

  mutating func removeAll() { entries = [:] }

  private mutating func found(_ device: Device, isWatched: Bool, at now: Instant) -> Change? {
    guard let entry = entries[device] else {
      entries[device] = Entry(lastHeard: now, isWatched: isWatched)
      return Change(device: device, isThere: true, lastHeard: now)
    }
    // An unreported loss is undone.
    entries[device] = Entry(lastHeard: now, isWatched: isWatched, retry: entry.isThere ? entry.retry : nil)
    return nil
  }

  private mutating func lose(_ device: Device, lastHeard: Instant) -> Change? {
    // A device that was never reported is not lost.
    let wasTold = entries.removeValue(forKey: device)?.retry == nil
    return wasTold ? Change(device: device, isThere: false, lastHeard: lastHeard) : nil
  }
}
