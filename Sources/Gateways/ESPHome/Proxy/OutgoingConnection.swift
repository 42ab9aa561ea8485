import Bluetooth

/// The connection that the proxy opens to Home Assistant: its attempts, on a clock.
final class OutgoingConnection {
  /// Begin to connect.
  var connect: () -> Void = {}
  /// Stop connecting; true if it has taken too long.
  var cancel: (_ isTimeout: Bool) -> Void = { _ in }

  private let clock: any Scheduler
  private var attempts = OutgoingAttempts()
  private var alarm: (any ScheduledWork)?
  private var generator = SystemRandomNumberGenerator()

  init(_ clock: any Scheduler) { self.clock = clock }

  /// - Parameter isRequired: true if the proxy is ready, and Home Assistant is not connected to it.
  func require(_ isRequired: Bool) { perform(attempts.require(isRequired, at: clock.now), isTimeout: false) }

  func opened() {
    attempts.opened()
    watch()
  }

  func failed() {
    attempts.failed(at: clock.now, chance: chance)
    watch()
  }

  func served() { attempts.served() }

  func ended() {
    attempts.ended(at: clock.now, chance: chance)
    watch()
  }

  private var chance: Double { .random(in: 0...1, using: &generator) }

  private func perform(_ action: OutgoingAttempts.Action?, isTimeout: Bool) {
    watch()
    switch action {
    case .connect: connect()
    case .cancel: cancel(isTimeout)
    case nil: break
    }
  }

  private func watch() {
    alarm?.cancel()
    alarm = attempts.deadline.map { deadline in
      clock.schedule(at: deadline) { [weak self] in
        guard let self else { return }
        perform(attempts.expire(at: clock.now, chance: chance), isTimeout: true)
      }
    }
  }
}
