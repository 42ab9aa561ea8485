import BledRPC

extension Router {
  func serveSession(_ daemon: Daemon) {
    answer(SessionOpen.self) { [unowned daemon] params, session in
      session.name = String((params.name ?? "").prefix(64))
      return .init(
        session: session.id, daemon: "bled \(Daemon.version)", protocol: Daemon.protocolVersion,
        adapters: daemon.adapters.descriptions)
    }
    answer(AdapterList.self) { [unowned daemon] _, _ in .init(adapters: daemon.adapters.descriptions) }
    answer(RPCDiscover.self) { _, _ in try OpenRPC.description() }
  }
}
