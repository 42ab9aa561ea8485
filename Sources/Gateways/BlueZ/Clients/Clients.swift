import BledRPC

/// The parts of the facade that follow a program's session.
protocol ClientObserver: AnyObject {
  func notified(_ client: BusClient, _ name: String, _ message: RPCMessage)
  func asked(_ client: BusClient, _ id: RequestID, _ method: String, _ message: RPCMessage)
  /// An event in the session of its monitors.
  func monitored(_ client: BusClient, _ name: String, _ message: RPCMessage)
  /// A session accepted by bled has ended, while the program is still on the bus.
  func lost(_ client: BusClient, _ purpose: BusClient.Purpose)
  /// The program has left the bus.
  func left(_ client: BusClient)
}

/// The programs on the bus that use bled.
final class Clients {
  weak var observer: (any ClientObserver)?
  private let context: Context
  let callers: Callers
  private var clients: [String: BusClient] = [:]
  /// The calls of each user's programs, until the last is answered, also when the programs have left.
  private var userCalls: [UInt32: WeakCalls] = [:]

  private struct WeakCalls {
    weak var calls: UserCalls?
  }

  init(_ context: Context) {
    self.context = context
    callers = Callers(context.bus)
  }

  func known(_ name: String) -> BusClient? { clients[name] }

  /// The programs of one process.
  func sameProcess(as client: BusClient) -> [BusClient] {
    all.filter { $0.isOfSameProcess(as: client) }
  }

  /// Calls `work` with the program, at once if its user is known; with nil if it has left.
  func withClient(_ name: String, _ work: @escaping (BusClient?) -> Void) {
    if let client = clients[name] { return work(client) }
    callers.identify(name) { [weak self] credentials in
      guard let self else { return }
      work(credentials.map { client(name, $0) })
      context.flush()
    }
  }

  private func client(_ name: String, _ credentials: Credentials) -> BusClient {
    if let client = clients[name] { return client }
    let client = BusClient(name, credentials, calls(of: credentials.user), context: context, clients: self)
    clients[name] = client
    return client
  }

  /// The client that holds links for programs of a user that have left. No program has its name.
  func keeper(of credentials: Credentials) -> BusClient {
    client(Self.keeperName(credentials), Credentials(user: credentials.user, groups: credentials.groups, process: 0))
  }

  func knownKeeper(of credentials: Credentials) -> BusClient? { clients[Self.keeperName(credentials)] }

  private static func keeperName(_ credentials: Credentials) -> String { "links of user \(credentials.user)" }

  /// A client that is not on the bus holds nothing.
  func close(_ keeper: BusClient) { clients.removeValue(forKey: keeper.name)?.close() }

  private func calls(of user: UInt32) -> UserCalls {
    if let calls = userCalls[user]?.calls { return calls }
    let calls = UserCalls()
    userCalls = userCalls.filter { $0.value.calls != nil }
    userCalls[user] = WeakCalls(calls: calls)
    return calls
  }

  /// The program has left the bus.
  func left(_ name: String) {
    callers.left(name)
    guard let client = clients.removeValue(forKey: name) else { return }
    observer?.left(client)
    client.close()
    context.flush()
  }

  /// All programs.
  var all: [BusClient] { Array(clients.values) }
}
