import FoundationEssentials
import Glibc

/// Maximum wait of a test for another program or thread. No result depends on it: it ends the wait for a program that
/// hangs, on the slowest machine that runs the tests.
public enum Patience {
  /// In seconds: five minutes, or the value of the environment variable BLED_TEST_PATIENCE (1 or more).
  public static let seconds: Int = {
    let text = ProcessInfo.processInfo.environment["BLED_TEST_PATIENCE"]
    return min(max(text.flatMap { Int($0) } ?? 300, 1), 1_000_000)
  }()

  /// Its end from this moment on.
  public static var end: ContinuousClock.Instant { .now + .seconds(seconds) }

  /// Waits until a descriptor is ready, or until patience ends. It blocks its thread.
  /// - Parameters:
  ///   - descriptor: An open file.
  ///   - events: The events of poll(2).
  /// - Returns: True if it is.
  public static func wait(for descriptor: CInt, _ events: CInt = CInt(POLLIN)) -> Bool {
    var waiting = pollfd(fd: descriptor, events: Int16(events), revents: 0)
    let end = end
    while true {
      let left = ContinuousClock.now.duration(to: end).components
      let milliseconds = max(0, left.seconds * 1000 + left.attoseconds / 1_000_000_000_000_000)
      let count = poll(&waiting, 1, CInt(clamping: milliseconds))
      if count == 1 { return true }
      guard count < 0, errno == EINTR else { return false }
    }
  }

  /// Waits until a condition holds that others bring about, or until patience ends. It blocks its thread.
  /// - Returns: True if it holds.
  public static func wait(until condition: () throws -> Bool) rethrows -> Bool {
    let end = end
    while try !condition() {
      guard ContinuousClock.now < end else { return false }
      // The only pause in the tests: its length decides nothing.
      usleep(5000)
    }
    return true
  }
}
