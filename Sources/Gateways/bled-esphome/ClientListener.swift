import BledConnection
import EventLoop

/// Accepts clients on an event loop.
final class ClientListener {
  /// The pause while the process has no room for another client, in nanoseconds.
  private static let pause: Int64 = 1_000_000_000

  private let loop: EventLoop
  private let listener: Listener
  private var watch: Watch?
  private let accepted: (Socket) -> Void

  init(_ listener: Listener, on loop: EventLoop, _ accepted: @escaping (Socket) -> Void) throws(EventLoopError) {
    self.loop = loop
    self.listener = listener
    self.accepted = accepted
    watch = try Watch(listener.descriptor, on: loop, priority: .low) { [unowned self] _ in accept() }
  }

  deinit { watch?.cancel() }

  private func accept() {
    for _ in 0..<Listener.portion {
      switch listener.accept() {
      case .connection(let socket): accepted(socket)
      case .none: return
      case .exhausted:
        // Waiting clients would be reported continuously.
        watch?.isEnabled = false
        _ = loop.schedule(at: EventLoop.now + Self.pause) { [weak self] in self?.watch?.isEnabled = true }
        return
      }
    }
  }
}
