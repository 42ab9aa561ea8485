import BledRPC
import Bluetooth

extension DeviceLink {
  /// Measures the signal strength. The controller may answer after the link's end, or never; the session has its answer before
  /// it hears of the end.
  func measureRSSI(_ session: Session, _ reply: Reply<PeripheralRSSI.Result>) {
    guard isOpen else { return reply.fail(Self.gone) }
    measurements.append((session, reply))
    link.readRSSI { [weak self] result in
      self?.measurements.removeAll { $0.reply === reply }
      reply.complete(result.map { .init(rssi: $0) })
    }
  }

  /// Fails the measurements of a session, or of all if it is nil.
  func abandonMeasurements(of session: Session?, _ error: BluetoothError) {
    let abandoned = measurements.filter { session == nil || $0.session == session }
    measurements.removeAll { session == nil || $0.session == session }
    for measurement in abandoned { measurement.reply.fail(error) }
  }
}
