import BledRPC

extension CentralBroker {
  /// Adds the devices that a session uses, waits for and looks for, and what it subscribed to.
  func describe(_ session: Session, in description: inout SessionDescription) {
    description.searching = searches.criteria(of: session).map(\.description).nonEmpty
    for connection in inOrder {
      let peripheral = connection.peripheral
      let device = SessionDescription.Device(
        peripheral: peripheral.id, address: "\(peripheral.address)", name: peripheral.name)
      if connection.machine.users.contains(session) {
        description.connections.append(device)
      } else if connection.machine.isWaiting(session) {
        description.connecting.append(device)
      }
      for handle in connection.link?.receivers.subscriptions(of: session) ?? [] {
        description.subscriptions.append(.init(peripheral: peripheral.id, handle: handle))
      }
      for handle in connection.link?.receivers.acquisitions(of: session) ?? [] {
        description.acquired = (description.acquired ?? []) + [.init(peripheral: peripheral.id, handle: handle)]
      }
    }
  }
}
