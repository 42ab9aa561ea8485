import BledRPC
import Bluetooth

extension CentralBroker {
  /// Adds the devices a session uses, waits for and searches for, and its subscriptions.
  func describe(_ session: Session, in description: inout SessionDescription) {
    description.searching = searches.criteria(of: session).map(\.description).nonEmpty
    for connection in inOrder { description.add(connection, for: session) }
  }
}

extension SessionDescription {
  /// Adds a session's part in a device.
  fileprivate mutating func add(_ connection: PeripheralConnection, for session: Session) {
    let peripheral = connection.peripheral
    let device = Device(peripheral: peripheral.id, address: "\(peripheral.address)", name: peripheral.name)
    if connection.machine.users.contains(session) {
      connections.append(device)
    } else if connection.machine.isWaiting(session) {
      connecting.append(device)
    }
    for handle in connection.link?.receivers.subscriptions(of: session) ?? [] {
      subscriptions.append(.init(peripheral: peripheral.id, handle: handle))
    }
    for handle in connection.link?.receivers.acquisitions(of: session) ?? [] {
      acquired = (acquired ?? []) + [.init(peripheral: peripheral.id, handle: handle)]
    }
  }
}

extension PeripheralList.Entry {
  /// Describes a device for a session.
  /// - Parameter connection: nil if no session wants one, and there is no link.
  init(
    _ peripheral: Peripheral, _ connection: PeripheralConnection?, for session: Session, isBlocked: Bool, now: Instant
  ) {
    let state: PeripheralList.Entry.State =
      switch connection?.machine.state {
      case .connecting, .negotiating: .connecting
      case .connected, .linked: .connected
      case .idle, .ending, nil: .disconnected
      }
    self.init(
      peripheral: peripheral.id, address: "\(peripheral.address)", addressType: Word(peripheral.address.kind),
      adapter: peripheral.adapter.id, name: peripheral.name, rssi: peripheral.rssi, state: Word(state),
      mine: connection?.machine.users.contains(session) ?? false, mtu: connection?.link?.hub.mtu,
      connectable: peripheral.advertisement?.isConnectable, blocked: isBlocked ? true : nil,
      incoming: connection?.link?.hub.link.role == .peripheral ? true : nil,
      sinceReport: peripheral.lastHeard.map { max(0, $0.duration(to: now).inSeconds) })
  }
}
