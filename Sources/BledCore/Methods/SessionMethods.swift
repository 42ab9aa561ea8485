import BledRPC

extension Router {
  func serveSession(_ daemon: Daemon) {
    serve(SessionOpen.self) { [unowned daemon] params, session, reply in
      try daemon.open(params, for: session, reply)
    }
    serve(SessionEnd.self) { [unowned daemon] params, session, reply in
      try daemon.end(params, for: session, reply)
    }
    answer(SessionList.self) { [unowned daemon] _, session in .init(sessions: daemon.describeSessions(to: session)) }
    answer(AdapterList.self) { [unowned daemon] _, _ in .init(adapters: daemon.adapters.descriptions) }
    serve(AdapterPower.self) { [unowned daemon] params, session, reply in
      try daemon.adapters.find(params.adapter).setPower(params.on, for: session, reply)
    }
    answer(RPCDiscover.self) { _, _ in try OpenRPC.description() }
  }
}
