import BledRPC

extension Router {
  func servePublishing(_ peripheral: PeripheralBroker, _ advertising: AdvertisingBroker) {
    answer(ServiceAdd.self) { [unowned peripheral] params, session in
      .init(service: try peripheral.add(params, for: session))
    }
    answer(ServiceRemove.self) { [unowned peripheral] params, session in
      try peripheral.remove(params.handle, for: session)
      return Empty()
    }
    answer(ServerNotify.self) { [unowned peripheral] params, session in
      try peripheral.notify(params, for: session)
    }
    answer(ServerSetLatency.self) { [unowned peripheral] params, _ in
      try peripheral.setLatency(params)
      return Empty()
    }
    serve(AdvertisingStart.self) { [unowned advertising] params, session, reply in
      try advertising.start(params, for: session, reply)
    }
    answer(AdvertisingStop.self) { [unowned advertising] params, session in
      try advertising.stop(params.advertising, for: session)
      return Empty()
    }
  }
}
