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
    serve(AdapterPower.self) { [unowned daemon] params, _, reply in
      let slot = try daemon.adapters.find(params.adapter)
      slot.adapter.setPower(params.on) { error in
        if let error { reply.fail(error) } else { reply.succeed(slot.description) }
      }
    }
    answer(RPCDiscover.self) { _, _ in try OpenRPC.description() }
  }
}
