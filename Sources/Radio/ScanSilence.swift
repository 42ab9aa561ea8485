import Bluetooth

/// Finds out that extended scanning does not work although the controller accepts it: nothing is reported for a minute,
/// in which the kernel has found devices all the same.
///
/// | State     | Input                                    | Outcome                          |
/// |-----------|------------------------------------------|----------------------------------|
/// | unknown   | `began`                                  | listening                        |
/// | listening | `heard`                                  | it works; nothing changes that   |
/// | listening | `isBroken` after a minute, with `found`  | true                             |
struct ScanSilence {
  private enum State: Hashable {
    case unknown
    case listening(since: Instant, hasFound: Bool)
    case works
  }

  private static let timeout = Duration.seconds(60)
  private var state = State.unknown

  /// The scan is on.
  mutating func began(at now: Instant) { if state == .unknown { state = .listening(since: now, hasFound: false) } }

  /// Whether it is not known yet whether the scan works.
  var isListening: Bool { if case .listening = state { true } else { false } }

  /// A report came.
  mutating func heard() { state = .works }

  /// The kernel told of a device.
  mutating func found() {
    if case .listening(let since, _) = state { state = .listening(since: since, hasFound: true) }
  }

  /// Whether the scan is silent where others hear something.
  func isBroken(at now: Instant) -> Bool { deadline.map { $0 <= now } ?? false }

  /// When `isBroken` becomes true, unless something is heard.
  var deadline: Instant? {
    guard case .listening(let since, true) = state else { return nil }
    return since.advanced(by: Self.timeout)
  }
}
