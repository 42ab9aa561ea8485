import BledRPC
import Bluetooth

extension CentralBroker {
  /// The program of a session is gone: nobody waits for what it had under way. Its links, subscriptions and wishes stay.
  func lost(_ session: Session) {
    for connection in inOrder where connection.machine.users.contains(session) {
      connection.device?.abandon(session, GAPError.cancelled.error("the program is gone"))
      connection.device?.releaseBrake()
    }
  }

  /// The devices that a session holds or waits for.
  func held(by session: Session) -> [RestoredState.Peripheral] {
    inOrder.compactMap { connection in
      let isUser = connection.machine.users.contains(session)
      guard isUser || connection.machine.isWaiting(session) else { return nil }
      let peripheral = connection.peripheral
      let device = isUser ? connection.device : nil
      let subscriptions = device?.subscriptions.filter { $0.value.members.contains(session) }.keys.sorted()
      return .init(
        peripheral: peripheral.id, address: "\(peripheral.address)", addressType: "\(peripheral.address.kind)",
        adapter: connection.slot.id, name: peripheral.name, state: isUser ? "connected" : "connecting",
        mtu: device?.mtu, services: device?.discovered[session.id]?.services ?? [],
        subscriptions: subscriptions ?? [])
    }
  }

  /// What became of a wish whose program went away before that.
  func decided(
    _ outcome: Result<PeripheralConnect.Result, RPCError>, _ peripheral: Peripheral, for session: Session
  ) {
    switch outcome {
    case .success(let link): session.send(PeripheralConnected.self, link)
    case .failure(let error):
      session.send(PeripheralConnectFailed.self, .init(peripheral: peripheral.id, reason: error))
    }
  }
}
