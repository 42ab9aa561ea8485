import Bluetooth
import GATT

/// Two devices on one link in memory: the first is the client that is looked at, the second its server.
struct Pair {
  var client: GATTConnection
  var server: GATTConnection
  var clientDatabase = AttributeDatabase()
  var serverDatabase: AttributeDatabase
  var now = Instant.zero
  var results: [Result<GATTResult, GATTError>] = []
  var values: [(handle: UInt16, value: [UInt8])] = []
  /// Packets on their way.
  var toServer: [[UInt8]] = []
  var toClient: [[UInt8]] = []
  /// The number of packets that crossed the link.
  var crossed = 0
  private var lastID: UInt64 = 0
  /// Procedures that wait for the one before them.
  private var waiting: [GATTProcedure] = []
  private var isRunning = false

  init(server database: AttributeDatabase, maximumMTU: Int = 23) {
    client = GATTConnection(maximumMTU: maximumMTU)
    server = GATTConnection(maximumMTU: maximumMTU)
    serverDatabase = database
  }

  /// Starts a procedure of the client when the earlier ones have ended; results arrive in the order of the procedures.
  mutating func start(_ procedure: GATTProcedure) {
    waiting.append(procedure)
    startNext()
  }

  private mutating func startNext() {
    guard !isRunning, !waiting.isEmpty else { return }
    let procedure = waiting.removeFirst()
    isRunning = true
    lastID += 1
    var actions: [GATTAction] = []
    client.start(procedure, id: ProcedureID(lastID), now: now, actions: &actions)
    take(clientActions: actions)
  }

  /// Lets packets cross until none is on its way.
  mutating func settle() {
    while !toServer.isEmpty || !toClient.isEmpty {
      crossed += 1
      var actions: [GATTAction] = []
      if !toServer.isEmpty {
        server.received(toServer.removeFirst(), now: now, database: &serverDatabase, actions: &actions)
        take(serverActions: actions)
      } else {
        client.received(toClient.removeFirst(), now: now, database: &clientDatabase, actions: &actions)
        take(clientActions: actions)
      }
    }
  }

  private mutating func take(clientActions actions: [GATTAction]) {
    for action in actions {
      switch action {
      case .send(_, let packet): toServer.append(packet)
      case .finished(_, let result):
        results.append(result)
        isRunning = false
      case .value(let handle, let value, _): values.append((handle, value))
      default: break
      }
    }
    startNext()
  }

  mutating func take(serverActions actions: [GATTAction]) {
    for case .send(_, let packet) in actions { toClient.append(packet) }
  }
}
