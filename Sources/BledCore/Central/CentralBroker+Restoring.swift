import BledRPC
import Bluetooth

extension CentralBroker {
  /// The program of a session is gone: nobody waits for what it had under way. Its links, subscriptions and wishes stay;
  /// what it watched of others' links does not, as that would fill what is kept for it.
  func lost(_ session: Session) {
    watchers.set(false, session)
    for connection in inOrder where connection.machine.users.contains(session) {
      connection.device?.abandon(session, GAPError.cancelled.error("the program is gone"), isKept: true)
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
      let had = revivals[peripheral]?[session]
      let subscriptions = device?.subscriptions.filter { $0.value.members.contains(session) }.keys.sorted()
      return .init(
        peripheral: peripheral.id, address: "\(peripheral.address)", addressType: "\(peripheral.address.kind)",
        adapter: connection.slot.id, name: peripheral.name, state: isUser ? "connected" : "connecting",
        mtu: device?.mtu, services: device?.discovered[session.id]?.services ?? had?.services ?? [],
        subscriptions: subscriptions ?? had?.subscriptions ?? [],
        reconnect: connection.machine.keepers.contains(session) ? true : nil)
    }
  }

  /// Connects to a device that a session of before held or waited for, as soon as its adapter works.
  func revive(_ had: RestoredState.Peripheral, for session: Session) throws {
    let adapter = try? adapters.find(had.adapter).id
    let connection = try connection(
      wanted: .init(address: had.address, addressType: had.addressType, adapter: adapter), by: session, isRevived: true)
    revivals[connection.peripheral, default: [:]][session] = had
    perform(connection.machine.rejoin(session, keeps: had.reconnect ?? false), on: connection)
  }

  /// The device is connected again: what was discovered and subscribed on it is looked for, and the session is told of what
  /// is not there any more.
  func resubscribe(_ session: Session, to had: RestoredState.Peripheral, on device: DeviceLink) {
    guard !had.services.isEmpty else { return }
    let reply = Reply<GATTServices>()
    reply.afterwards = { [weak self, weak device] outcome in
      guard let self, let device, device.isOpen else { return }
      var found = DiscoveredTree()
      if case .success(let services) = outcome { found.add(services.services) }
      let isSame = found.contains(had.services)
      if isSame { device.discovered[session.id, default: DiscoveredTree()].add(had.services) }
      for handle in had.subscriptions {
        do {
          _ = try outcome.get()
          guard isSame else {
            throw BledError.unknownHandle.error("the device's services changed; discover them again")
          }
          try device.subscribe(to: handle, session, Reply())
        } catch {
          tellLost(handle, on: device, session, (error as? RPCError)?.bluetoothError ?? error.asBluetoothError)
        }
      }
      guard !isSame, case .success = outcome else { return }
      session.send(GATTServicesChanged.self, .init(peripheral: device.peripheral.id, start: 1, end: 0xFFFF))
    }
    device.discover(session, reply)
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
