/// `Connected` as each process sees it: a process that has disconnected sees false, while others are still connected.
final class LinkViews {
  private let context: Context
  private let clients: Clients
  private let devices: Devices
  /// The processes that have disconnected from a device to which others are connected.
  private var hidden: [String: Set<Int32>] = [:]

  init(_ context: Context, _ clients: Clients, _ devices: Devices) {
    self.context = context
    self.clients = clients
    self.devices = devices
  }

  /// A program is connected.
  func show(_ path: String, to client: BusClient) {
    devices.set(path, "Connected", .boolean(true))
    guard hidden[path]?.remove(client.credentials.process) != nil else { return }
    if hidden[path]?.isEmpty == true { hidden[path] = nil }
    signal(client, path, isConnected: true)
  }

  /// A program's process no longer uses the link, while others do.
  func hide(_ path: String, from client: BusClient) {
    // The process may have left with this program.
    guard !clients.sameProcess(as: client).isEmpty else { return }
    hidden[path, default: []].insert(client.credentials.process)
    signal(client, path, isConnected: false)
  }

  /// A program has left, perhaps the last one of its process.
  func left(_ client: BusClient) {
    guard clients.sameProcess(as: client).isEmpty else { return }
    for path in hidden.keys {
      hidden[path]?.remove(client.credentials.process)
      if hidden[path]?.isEmpty == true { hidden[path] = nil }
    }
  }

  /// All processes see the same again.
  func forget(_ path: String) { hidden[path] = nil }

  private func signal(_ client: BusClient, _ path: String, isConnected: Bool) {
    let isResolved = isConnected && devices.flag(path, "ServicesResolved")
    let values: ObjectTree.Properties = [
      ("Connected", .boolean(isConnected)), ("ServicesResolved", .boolean(isResolved)),
    ]
    for other in clients.sameProcess(as: client) {
      context.signal(other.name, ObjectTree.changed(path, .device, values))
    }
  }
}
