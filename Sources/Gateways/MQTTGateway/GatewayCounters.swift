import BledRPC

/// The counters of the gateway, as its status message has them.
struct GatewayCounters {
  /// Counters of other parts, and states.
  struct State {
    let gateway: String
    /// In seconds.
    let uptime: Double
    /// In seconds since the epoch.
    let time: Double
    let isBledThere: Bool
    let devices: Int
    let dropped: UInt64
    let linked: Int
    let connections: UInt64
    let described: Int
    let outbox: BrokerQueue.Counters
    let spool: Spool.Counters?
    let spoolLength: Int
  }

  var brokerConnections: UInt64 = 0
  var sessions: UInt64 = 0
  var sessionsLost: UInt64 = 0
  var heard: UInt64 = 0
  var reports: UInt64 = 0
  var values: UInt64 = 0
  var commands: UInt64 = 0
  var commandsFailed: UInt64 = 0
  var commandsIgnored: UInt64 = 0

  func octets(_ state: State) throws -> [UInt8] {
    var writer = JSONWriter()
    try writer.object { writer in
      writer.member("gateway", state.gateway)
      writer.member("version", Release.version)
      writer.member("uptime", Int(state.uptime))
      try writer.time(state.time)
      writer.member("bled", state.isBledThere)
      writer.member("bledSessions", sessions)
      writer.member("brokerConnections", brokerConnections)
      writer.member("heard", heard)
      writer.member("devices", state.devices)
      writer.member("reports", reports)
      writer.member("reportsDropped", state.dropped)
      writer.member("values", values)
      writer.member("linked", state.linked)
      writer.member("links", state.connections)
      writer.member("described", state.described)
      writer.member("commands", commands)
      writer.member("commandsFailed", commandsFailed)
      writer.member("commandsIgnored", commandsIgnored)
      writer.member("published", state.outbox.published)
      writer.member("refused", state.outbox.refused)
      writer.member("lost", state.outbox.lost)
      writer.member("unsent", state.outbox.unsent)
      if let spool = state.spool {
        writer.name("spool")
        writer.object { writer in
          writer.member("octets", state.spoolLength)
          writer.member("messages", state.outbox.spooled)
          writer.member("dropped", spool.dropped)
          writer.member("unwritten", spool.unwritten)
          writer.member("damaged", spool.damaged)
        }
      }
    }
    return writer.codes
  }
}
