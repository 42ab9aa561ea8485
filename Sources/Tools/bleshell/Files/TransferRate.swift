import Synchronization

/// How far a transfer of one file is: its rate, and the time that it needs.
final class TransferRate: Sendable {
  private struct State {
    var first: (octets: UInt64, time: ContinuousClock.Instant)?
    /// The time at which it was last shown.
    var last: ContinuousClock.Instant?
  }

  /// The interval of updates, except at the end.
  private static let pause = Duration.milliseconds(100)

  private let name: String
  private let size: UInt64
  private let state = Mutex(State())
  private let show: @Sendable (String) -> Void

  /// - Parameter show: shows it.
  init(_ name: String, size: UInt64, show: @escaping @Sendable (String) -> Void) {
    self.name = name
    self.size = size
    self.show = show
  }

  /// This number of the file's octets has arrived.
  func reached(_ octets: UInt64, at now: ContinuousClock.Instant = .now) {
    let text = state.withLock { state -> String? in
      if let last = state.last, octets < size, last.duration(to: now) < Self.pause { return nil }
      state.last = now
      // Octets of an earlier attempt do not count for this rate.
      let first = state.first ?? (octets, now)
      state.first = first
      return Self.text(name, octets, of: size, since: first.octets, in: first.time.duration(to: now))
    }
    if let text { show(text) }
  }

  /// "photo.jpg: 41 %, 1.4 MB of 3.4 MB, 130 kB/s, 15 s left"
  static func text(
    _ name: String, _ octets: UInt64, of size: UInt64, since first: UInt64, in time: Duration
  ) -> String {
    let percent = size == 0 ? 100 : Int(Double(octets) / Double(size) * 100)
    let text = "\(name): \(percent) %, \(octetText(octets)) of \(octetText(size))"
    let seconds = time / .seconds(1)
    guard seconds > 0.5, octets > first, octets <= size else { return text }
    let rate = Double(octets - first) / seconds
    // The size is the sender's claim.
    guard let left = Int(exactly: (Double(size - octets) / rate).rounded(.up)) else { return text }
    return "\(text), \(octetText(UInt64(rate)))/s, \(left) s left"
  }
}
