import BledRPC

extension CentralBroker {
  func list(for session: Session) -> [PeripheralList.Entry] {
    directory.all.map { peripheral in
      let connection = connections[peripheral]
      let state =
        switch connection?.machine.state {
        case .connecting, .negotiating: "connecting"
        case .connected, .linked: "connected"
        case .idle, .ending, nil: "disconnected"
        }
      return PeripheralList.Entry(
        peripheral: peripheral.id, address: "\(peripheral.address)", addressType: "\(peripheral.address.kind)",
        adapter: peripheral.adapter.id, name: peripheral.name, rssi: peripheral.rssi, state: state,
        mine: connection?.machine.users.contains(session) ?? false, mtu: connection?.device?.mtu)
    }
  }

  /// Adds the devices that a session uses and waits for, and what it subscribed to.
  func describe(_ session: Session, in description: inout SessionDescription) {
    for connection in inOrder {
      let peripheral = connection.peripheral
      let device = SessionDescription.Device(
        peripheral: peripheral.id, address: "\(peripheral.address)", name: peripheral.name)
      if connection.machine.users.contains(session) {
        description.connections.append(device)
      } else if connection.machine.isWaiting(session) {
        description.connecting.append(device)
      }
      guard let subscriptions = connection.device?.subscriptions else { continue }
      for handle in subscriptions.keys.sorted() where subscriptions[handle]?.members.contains(session) == true {
        description.subscriptions.append(.init(peripheral: peripheral.id, handle: handle))
      }
    }
  }

  /// Points a value that is read again and again, and could be subscribed to, out in the log, once for a session.
  func noticeRead(_ handle: UInt16, of device: DeviceLink, by session: Session) {
    guard !device.known.supports(handle, [.notify, .indicate]).isEmpty,
      device.subscriptions[handle]?.members.contains(session) != true,
      session.polling.read(.init(device: device.peripheral.number, handle: handle), at: scheduler.now)
    else { return }
    logger.notice(
      "session \(session.id) \(session.name) reads characteristic \(handle) of \(device.peripheral.address) again and again; it would be told of changes after gatt.subscribe"
    )
  }
}
