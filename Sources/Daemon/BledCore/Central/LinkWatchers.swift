import BledRPC
import Bluetooth

/// The sessions watching all links.
struct LinkWatchers {
  private var sessions: Set<Session> = []

  mutating func set(_ on: Bool, _ session: Session) {
    if on {
      sessions.insert(session)
    } else {
      sessions.remove(session)
    }
  }

  /// A link to the device was established, or ended for this reason.
  /// - Parameter isIncoming: true if the link was established by the device.
  func notify(_ peripheral: Peripheral, isIncoming: Bool = false, ended reason: BluetoothError? = nil) {
    guard !sessions.isEmpty else { return }
    let params = PeripheralLinkChanged.Params(
      peripheral: peripheral.id, linked: reason == nil, name: peripheral.name, reason: reason.map { RPCError($0) },
      incoming: isIncoming ? true : nil)
    let line = try? RPCEncoding.notification(PeripheralLinkChanged.self, params)
    for session in sessions.sorted(by: { $0.id < $1.id }) { session.send(line, as: .event) }
  }
}
