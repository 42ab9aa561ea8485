import Dispatch
import Foundation

/// A value behind a lock: framework objects' properties may be read on any thread.
package final class Guarded<Value>: @unchecked Sendable {
  private let lock = NSLock()
  private var value: Value

  package init(_ value: Value) { self.value = value }

  /// Calls `body` with exclusive access to the value. It must not call other code.
  package func with<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
    lock.lock()
    defer { lock.unlock() }
    return try body(&value)
  }

  package subscript<Part>(part: WritableKeyPath<Value, Part>) -> Part {
    get { with { $0[keyPath: part] } }
    set { with { $0[keyPath: part] = newValue } }
  }
}

/// Carries an API object, which is not Sendable (like Apple's), to the queue using it: its contents are behind locks.
package struct Carried<Value>: @unchecked Sendable {
  package let value: Value

  package init(_ value: Value) { self.value = value }
}

/// Carries delegate calls to the program's queue, one at a time.
package struct Delivery: Sendable {
  private let queue: DispatchQueue

  /// - Parameter queue: The program's; nil is the main queue. It may be concurrent.
  package init(to queue: DispatchQueue?) {
    // A queue of our own in front keeps the order; the main queue has one already, and code asks whether it is on it.
    if let queue, queue !== DispatchQueue.main {
      self.queue = DispatchQueue(label: "bled.delegate", target: queue)
    } else {
      self.queue = .main
    }
  }

  /// Calls `body` on the program's queue, after everything enqueued before.
  package func callAsFunction(_ body: @escaping () -> Void) {
    let carried = Carried(body)
    queue.async { carried.value() }
  }
}
