import EventLoop
import Glibc

/// Accepts clients on an event loop.
final class ClientListener {
  /// The clients that are accepted in one turn.
  private static let portion = 16
  /// The pause while the process has no descriptors left, in nanoseconds.
  private static let pause: Int64 = 1_000_000_000

  private let loop: EventLoop
  private let descriptor: Int32
  private var watch: Watch?
  private let accepted: (Int32) -> Void

  /// - Parameter accepted: called with a nonblocking socket, which the callee closes.
  init(_ descriptor: Int32, on loop: EventLoop, _ accepted: @escaping (Int32) -> Void) throws(EventLoopError) {
    self.loop = loop
    self.descriptor = descriptor
    self.accepted = accepted
    watch = try Watch(descriptor, on: loop, priority: .low) { [unowned self] _ in accept() }
  }

  deinit {
    watch?.cancel()
    close(descriptor)
  }

  private func accept() {
    for _ in 0..<Self.portion {
      let client = Glibc.accept(descriptor, nil, nil)
      guard client < 0 else {
        // The process starts no other program, so it does not matter that this is not one step.
        _ = fcntl(client, F_SETFD, FD_CLOEXEC)
        _ = fcntl(client, F_SETFL, O_NONBLOCK)
        accepted(client)
        continue
      }
      guard errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS else { return }
      // The clients that wait would be told of again and again.
      watch?.isEnabled = false
      _ = loop.schedule(at: EventLoop.now + Self.pause) { [weak self] in self?.watch?.isEnabled = true }
      return
    }
  }
}
