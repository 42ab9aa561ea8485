import BledRPC

extension Router {
  func servePublishing(_ server: ServerBroker, _ advertising: AdvertisingBroker) {
    answer(ServiceAdd.self) { [unowned server] params, session in
      .init(service: try server.add(params, for: session))
    }
    answer(ServiceRemove.self) { [unowned server] params, session in
      try server.remove(params.handle, for: session)
      return Empty()
    }
    answer(ServerNotify.self) { [unowned server] params, session in
      try server.notify(params, for: session)
    }
    answer(ServerSetLatency.self) { [unowned server] params, _ in
      try server.setLatency(params)
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
