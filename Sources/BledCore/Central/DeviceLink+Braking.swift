import Adapter
import Bluetooth

extension DeviceLink {
  /// A value, notified or written, was handed to a session. If that has too much to read by now and is alone on the link, the link is
  /// slowed down.
  /// It is not alone if others use the device, or the device uses services of others: their requests and answers would be
  /// held with the values.
  func brake(for session: Session, users: [Session]) {
    guard brake.isOpen, session.isPresent, session.outbox.isCongested, users.allSatisfy({ $0 === session }),
      served.isSubset(of: [session])
    else { return }
    session.slowedLinks += 1
    session.whenRelieved { [weak self] in self?.releaseBrake() }
    perform(brake.overrun())
    brakeAlarm = scheduler.schedule(after: Brake.patience) { [weak self] in
      guard let self else { return }
      perform(brake.patienceEnded())
    }
  }

  /// The reader has caught up, is gone, or is not the only one any more.
  func releaseBrake() {
    guard !brake.isOpen else { return }
    brakeAlarm?.cancel()
    brakeAlarm = nil
    perform(brake.relieved())
  }

  private func perform(_ action: Brake.Action?) {
    switch action {
    case .hold: link.isReading = false
    case .release: link.isReading = true
    case nil: break
    }
  }
}
