import BledRPC
import Bluetooth

/// Pending measurements of a link's signal strength. All requests during a measurement share its result. The controller
/// may answer after the link's end, or never.
final class SignalMeasurements {
  private unowned let hub: LinkHub
  /// Oldest request first.
  private var pending: [(session: Session, reply: Reply<PeripheralRSSI.Result>)] = []

  init(on hub: LinkHub) { self.hub = hub }

  /// Measures; a session is answered before the link's end is reported to it.
  func measure(for session: Session, _ reply: Reply<PeripheralRSSI.Result>) {
    guard hub.isOpen else { return reply.fail(LinkHub.gone) }
    let isInProgress = !pending.isEmpty
    pending.append((session, reply))
    guard !isInProgress else { return }
    hub.link.readRSSI { [weak self] result in
      for reply in self?.removeAll() ?? [] { reply.complete(result.map { .init(rssi: $0) }) }
    }
  }

  /// Fails a session's requests, or all if it is nil, in order.
  func end(_ error: BluetoothError, of session: Session? = nil) {
    for reply in removeAll(of: session) { reply.fail(error) }
  }

  private func removeAll(of session: Session? = nil) -> [Reply<PeripheralRSSI.Result>] {
    let removed = pending.filter { session == nil || $0.session == session }
    pending.removeAll { session == nil || $0.session == session }
    return removed.map(\.reply)
  }
}
