import Adapter
import Bluetooth

/// The times of a link's connection events, with its subrate (Core 5.4, Vol 6, Part B, 4.5.1).
struct ConnectionEvents {
  /// The instant of event 0, from which the others are counted.
  private let anchor: Instant
  private let interval: Int64
  private let subrate: Int64
  private let continuation: Int64
  /// The last event used because there was data before it.
  private var lastContinued: Int64 = 0

  /// Counts from now on.
  init(_ parameters: LinkParameters, from anchor: Instant) {
    self.anchor = anchor
    interval = parameters.interval.wholeNanoseconds
    subrate = Int64(max(1, parameters.subrate))
    continuation = Int64(parameters.continuation)
  }

  /// The first event after an instant.
  func next(after now: Instant) -> Instant {
    let next = number(at: now) + 1
    let used = next <= lastContinued ? next : (next + subrate - 1) / subrate * subrate
    return anchor.advanced(by: .nanoseconds(used * interval))
  }

  /// The event at this instant carried data.
  mutating func carriedData(at now: Instant) { lastContinued = number(at: now) + continuation }

  private func number(at now: Instant) -> Int64 { anchor.duration(to: now).wholeNanoseconds / interval }
}
