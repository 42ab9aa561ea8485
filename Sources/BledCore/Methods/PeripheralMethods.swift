import BledRPC

extension Router {
  func servePeripheral(_ broker: CentralBroker) {
    serve(PeripheralConnect.self) { [unowned broker] params, session, reply in
      try broker.connect(params, for: session, reply)
    }
    answer(PeripheralDisconnect.self) { [unowned broker] params, session in
      try broker.disconnect(params, for: session)
      return Empty()
    }
    answer(PeripheralList.self) { [unowned broker] _, session in .init(peripherals: broker.list(for: session)) }
    answer(PeripheralForget.self) { [unowned broker] params, _ in
      try broker.directory.forget(params.peripheral)
      return Empty()
    }
    answer(PeripheralWatch.self) { [unowned broker] params, session in
      broker.watchers.set(params.on ?? true, session)
      return Empty()
    }
    serve(PeripheralRSSI.self) { [unowned broker] params, session, reply in
      try broker.link(to: params.peripheral, for: session).measureRSSI(for: session, reply)
    }
  }
}
