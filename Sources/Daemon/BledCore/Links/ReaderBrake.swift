import Adapter
import Bluetooth

/// Pauses reading from one link while its only reader falls behind (`Brake`).
final class ReaderBrake {
  private unowned let hub: LinkHub
  private var brake = Brake()
  private var alarm: (any ScheduledWork)?

  init(of hub: LinkHub) { self.hub = hub }

  /// A value, notified or written, was handed to a session. If the session has too much to read by now and is alone on
  /// the link, the link is held until it has caught up.
  ///
  /// Other sessions count if they use the device, or the device uses their services: their requests and responses would
  /// be held back together with the values.
  func slowDown(for session: Session) {
    guard session.outbox.isCongested, pause(for: session) else { return }
    session.whenRelieved { [weak self] in self?.resume() }
  }

  /// Pauses reading from the link for a session with too much to read, until `resume`.
  /// - Returns: false if it is paused or has been already, or the session is not alone.
  func pause(for session: Session) -> Bool {
    guard brake.isOpen, session.isPresent, hub.central.users.allSatisfy({ $0 === session }),
      hub.server.served.isSubset(of: [session])
    else { return false }
    session.slowedLinks += 1
    perform(brake.overrun())
    alarm = hub.scheduler.schedule(after: Brake.timeout) { [weak self] in
      guard let self else { return }
      perform(brake.timedOut())
    }
    return true
  }

  /// The reader has caught up, has ended, or is no longer the only one.
  func resume() {
    guard !brake.isOpen else { return }
    alarm?.cancel()
    alarm = nil
    perform(brake.relieved())
  }

  /// The link has ended.
  func end() { alarm?.cancel() }

  private func perform(_ action: Brake.Action?) {
    switch action {
    case .pause: hub.link.isReading = false
    case .resume: hub.link.isReading = true
    case nil: return
    }
    hub.bearers.readingChanged()
  }
}
