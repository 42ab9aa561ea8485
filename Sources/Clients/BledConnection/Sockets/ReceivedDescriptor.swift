private import Glibc
import Synchronization

/// A descriptor that the daemon passed. It is closed with its last reference, unless it was taken.
public final class ReceivedDescriptor: Sendable {
  private let number: Mutex<Int32?>

  package init(_ number: Int32) { self.number = Mutex(number) }

  deinit {
    if let number = number.withLock({ $0 }) { close(number) }
  }

  /// Hands over the descriptor, which the caller must close.
  /// - Returns: nil if it was taken before.
  public func take() -> Int32? {
    number.withLock { number in
      defer { number = nil }
      return number
    }
  }
}
