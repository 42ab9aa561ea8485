import BledRPC
import Bluetooth

/// A device's values go to the subscribed sessions. No value is dropped silently: a session that cannot receive one is
/// returned, and loses the subscription.
extension Subscriptions {
  /// Sends a value to all its subscribers, encoded once.
  /// - Parameter owner: the session that reads the characteristic from a socket.
  /// - Returns: the sessions without room for it.
  func deliver(_ value: [UInt8], of handle: UInt16, from hub: LinkHub, except owner: Session?) -> [Session] {
    var receivers = receivers(of: handle)
    if let owner { receivers.removeAll { $0 === owner } }
    guard !receivers.isEmpty else { return [] }
    let params = GATTValue.Params(
      peripheral: hub.peripheral.id, handle: handle, value: HexBytes(value), time: hub.scheduler.secondsSinceEpoch,
      serial: hub.nextSerial())
    let line = try? RPCEncoding.notification(GATTValue.self, params)
    return receivers.filter { session in
      let isRefused = session.send(line, as: .value) == .refused
      hub.brake.slowDown(for: session)
      return isRefused
    }
  }

  /// Reports to the sessions that packets from the device, perhaps for them, were dropped on this machine.
  /// - Returns: the sessions without room for the report.
  func reportDropped(_ count: Int, of hub: LinkHub) -> [Session] {
    guard !members.isEmpty else { return [] }
    let line = try? RPCEncoding.notification(
      GATTValuesLost.self, .init(peripheral: hub.peripheral.id, packets: count))
    return members.sorted { $0.id < $1.id }.filter { session in
      session.costs.packetsLost += count
      return session.send(line, as: .value) == .refused
    }
  }
}
