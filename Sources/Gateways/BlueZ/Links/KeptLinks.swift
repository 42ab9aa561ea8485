import Bluetooth

/// The links of programs that have left the bus. Each command of busctl or gdbus is a program of its own, so a link
/// stays for a while, for the next programs of the same user; a link to a trusted device stays until it is
/// disconnected.
///
/// For each user there is a client of bled that is not on the bus, and holds these links.
final class KeptLinks {
  /// Lifetime of a link that no program uses.
  static let time = Duration.seconds(30)

  private struct Key: Hashable {
    let path: String
    /// The name of the keeper.
    let keeper: String
  }

  private let context: Context
  private let clients: Clients
  private let devices: Devices
  private var ends: [Key: any ScheduledWork] = [:]
  /// Called when a link is no longer to be kept.
  var expired: (String, BusClient) -> Void = { _, _ in }

  init(_ context: Context, _ clients: Clients, _ devices: Devices) {
    self.context = context
    self.clients = clients
    self.devices = devices
  }

  /// Keeps the link of a program that leaves.
  /// - Returns: the client that must hold it.
  func keep(_ path: String, of client: BusClient) -> BusClient {
    let keeper = clients.keeper(of: client.credentials)
    arm(Key(path: path, keeper: keeper.name), keeper)
    return keeper
  }

  private func arm(_ key: Key, _ keeper: BusClient) {
    ends[key]?.cancel()
    ends[key] = context.schedule(after: Self.time) { [weak self] in
      guard let self else { return }
      if devices.flag(key.path, "Trusted") { arm(key, keeper) } else { expired(key.path, keeper) }
    }
  }

  /// A program uses a device: a link that is kept for its user stays longer.
  func used(_ path: String, by client: BusClient) {
    guard let keeper = clients.knownKeeper(of: client.credentials) else { return }
    let key = Key(path: path, keeper: keeper.name)
    if ends[key] != nil { arm(key, keeper) }
  }

  /// A link is no longer kept.
  func forget(_ path: String, _ keeper: BusClient) {
    ends.removeValue(forKey: Key(path: path, keeper: keeper.name))?.cancel()
    guard !ends.keys.contains(where: { $0.keeper == keeper.name }) else { return }
    clients.close(keeper)
  }

  /// The link of a device has ended.
  func forget(_ path: String) {
    for key in ends.keys where key.path == path {
      if let keeper = clients.known(key.keeper) { forget(path, keeper) }
    }
  }
}
