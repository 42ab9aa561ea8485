/// The open pages. A page that is loaded again, or is hidden for a moment, ends nothing.
///
/// | Input                         | `isPresent`                        |
/// |-------------------------------|------------------------------------|
/// | no page yet                   | false                              |
/// | `count` with one page or more | true                               |
/// | `count` with none             | true for 30 s more, then false     |
struct Audience: Sendable {
  /// The time until everything ends without a page.
  static let grace = Duration.seconds(30)

  private enum State {
    case absent, present
    /// Until then.
    case leaving(Duration)
  }

  private var state = State.absent

  /// The number of open pages has changed.
  /// - Parameter now: the time since any fixed moment, here and below.
  mutating func count(_ pages: Int, at now: Duration) {
    switch state {
    case _ where pages > 0: state = .present
    case .present: state = .leaving(now + Self.grace)
    case .absent, .leaving: break
    }
  }

  /// True to scan, and to keep links and subscriptions.
  func isPresent(at now: Duration) -> Bool {
    switch state {
    case .absent: false
    case .present: true
    case .leaving(let end): now < end
    }
  }
}
