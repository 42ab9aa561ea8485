/// Carries calls of the delegate to the program's queue, one after the other.
struct Delivery: Sendable {
  private let queue: DispatchQueue

  /// - Parameter queue: The program's; nil is the main queue. It may be concurrent.
  init(to queue: DispatchQueue?) {
    // A queue of our own in front keeps the order; the main queue has one already, and code asks whether it is on it.
    if let queue, queue !== DispatchQueue.main {
      self.queue = DispatchQueue(label: "CoreBluetooth.delegate", target: queue)
    } else {
      self.queue = .main
    }
  }

  /// Calls `body` on the program's queue, after everything that was given before.
  func callAsFunction(_ body: @escaping () -> Void) {
    let carried = Carried(body)
    queue.async { carried.value() }
  }
}
