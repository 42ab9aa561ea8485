import BledRPC

/// The parts of the facade that hear of a program's session.
protocol ClientObserver: AnyObject {
  func notified(_ client: BusClient, _ name: String, _ message: RPCMessage)
  func asked(_ client: BusClient, _ id: RequestID, _ method: String, _ message: RPCMessage)
  /// An event in the session of its monitors.
  func monitored(_ client: BusClient, _ name: String, _ message: RPCMessage)
  /// A session that bled had accepted is over, while the program is still there.
  func lost(_ client: BusClient, _ purpose: BusClient.Purpose)
  /// The program has left the bus.
  func left(_ client: BusClient)
}

/// The programs on the bus that use bled.
///
/// The bus is asked for a program's user at its first call, and its calls wait in their order meanwhile.
final class Clients {
  private enum Entry {
    case asked([(BusClient?) -> Void])
    case known(BusClient)
  }

  /// The number of calls of one program that may wait for its credentials.
  private static let maximumWaiting = 128

  weak var observer: (any ClientObserver)?
  private let context: Context
  private var entries: [String: Entry] = [:]

  init(_ context: Context) { self.context = context }

  func known(_ name: String) -> BusClient? {
    if case .known(let client) = entries[name] { client } else { nil }
  }

  /// The programs of one process.
  func sameProcess(as client: BusClient) -> [BusClient] {
    entries.values.compactMap { entry in
      guard case .known(let other) = entry, other.credentials.process == client.credentials.process else { return nil }
      return other
    }
  }

  /// Calls `work` with the program, at once if it is known; with nil if it has left.
  func withClient(_ name: String, _ work: @escaping (BusClient?) -> Void) {
    switch entries[name] {
    case .known(let client): work(client)
    case .asked(let waiting):
      guard waiting.count < Self.maximumWaiting else { return work(nil) }
      entries[name] = .asked(waiting + [work])
    case nil:
      entries[name] = .asked([work])
      context.bus.call(
        "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "GetConnectionCredentials",
        [.string(name)], timeout: .seconds(10)
      ) { [weak self] result in self?.identified(name, try? result.get()) }
    }
  }

  private func identified(_ name: String, _ answer: [BusValue]?) {
    guard case .asked(let waiting) = entries[name] else { return }
    entries[name] = nil
    let values = answer?.first?.options ?? []
    let user = values.last { $0.key == "UnixUserID" }?.value.integer.flatMap(UInt32.init(exactly:))
    let process = values.last { $0.key == "ProcessID" }?.value.integer.flatMap(Int32.init(exactly:))
    let groups = values.last { $0.key == "UnixGroupIDs" }?.value.integers?.compactMap(UInt32.init(exactly:))
    guard let user else {
      for work in waiting { work(nil) }
      return context.flush()
    }
    let client = BusClient(
      name, BusClient.Credentials(user: user, groups: groups ?? [], process: process ?? 0), context: context,
      clients: self)
    entries[name] = .known(client)
    for work in waiting { work(client) }
    context.flush()
  }

  /// The program has left the bus.
  func left(_ name: String) {
    switch entries.removeValue(forKey: name) {
    case .known(let client):
      observer?.left(client)
      client.close()
      context.flush()
    case .asked(let waiting):
      for work in waiting { work(nil) }
    case nil: break
    }
  }

  /// All programs.
  var all: [BusClient] {
    entries.values.compactMap { if case .known(let client) = $0 { client } else { nil } }
  }
}
