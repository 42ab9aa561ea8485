import BledRPC
import Bluetooth

extension CentralBroker {
  func deliver(_ value: [UInt8], of handle: UInt16, on device: DeviceLink, to users: [Session]) {
    guard let members = device.subscriptions[handle]?.members, !members.isEmpty else { return }
    let params = GATTValue.Params(peripheral: device.peripheral.id, handle: handle, value: HexBytes(value))
    let line = try? RPCEncoding.notification(GATTValue.self, params)
    for session in members {
      if session.send(line, as: .value) == .refused {
        lose(handle, on: device, session, Self.tooSlow)
      }
      device.brake(for: session, users: users)
    }
  }

  /// Tells those whom some of the packets may have been for. Who has no room to be told loses its subscriptions instead.
  func lost(_ packets: Int, on device: DeviceLink) {
    let handles = device.subscriptions.keys.sorted()
    let sessions = Set(handles.flatMap { device.subscriptions[$0]?.members ?? [] })
    guard !sessions.isEmpty else { return }
    let line = try? RPCEncoding.notification(
      GATTValuesLost.self, .init(peripheral: device.peripheral.id, packets: packets))
    for session in sessions.sorted(by: { $0.id < $1.id }) {
      session.costs.packetsLost += packets
      guard session.send(line, as: .value) == .refused else { continue }
      for handle in handles where device.subscriptions[handle]?.members.contains(session) == true {
        lose(handle, on: device, session, Self.tooSlow)
      }
    }
  }

  private static var tooSlow: BluetoothError {
    BledError.tooSlow.error("the session did not read its values fast enough")
  }

  private func lose(_ handle: UInt16, on device: DeviceLink, _ session: Session, _ error: BluetoothError) {
    device.endSubscription(to: handle, of: session)
    tellLost(handle, on: device, session, error)
  }

  func tellLost(_ handle: UInt16, on device: DeviceLink, _ session: Session, _ error: BluetoothError) {
    session.send(
      GATTSubscriptionLost.self, .init(peripheral: device.peripheral.id, handle: handle, reason: RPCError(error)))
  }

  func servicesChanged(_ range: ClosedRange<UInt16>, on connection: Connection, _ device: DeviceLink) {
    let error = BledError.unknownHandle.error("the device's services changed; this handle is void")
    for handle in device.subscriptions.keys.sorted()
    where range.contains(handle) && handle != device.known.serviceChanged {
      // Nothing is written: what stands at the descriptor's handle now may be anything.
      for session in device.voidSubscription(to: handle) { tellLost(handle, on: device, session, error) }
    }
    device.known.forget(range)
    for session in device.discovered.keys { device.discovered[session]?.forget(range) }
    for session in connection.machine.users {
      session.send(
        GATTServicesChanged.self,
        .init(peripheral: device.peripheral.id, start: range.lowerBound, end: range.upperBound))
    }
  }
}
