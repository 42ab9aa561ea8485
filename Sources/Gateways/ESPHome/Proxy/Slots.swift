/// The connections that the proxy has room for, and the client of each. A device has one client at a time.
struct Slots {
  let limit: Int
  private var clients: [UInt64: Int] = [:]

  init(limit: Int) { self.limit = limit }

  /// The addresses of the devices, in ascending order.
  var allocated: [UInt64] { clients.keys.sorted() }

  /// The state for a client.
  var frame: APIFrame { .connectionsFree(limit: limit, allocated: allocated) }

  /// - Returns: false if all are in use, or another client has the device.
  mutating func claim(_ address: UInt64, by client: Int) -> Bool {
    guard clients[address] == nil, clients.count < limit else { return false }
    clients[address] = client
    return true
  }

  /// - Returns: true if the client had it.
  mutating func release(_ address: UInt64, by client: Int) -> Bool {
    guard clients[address] == client else { return false }
    clients[address] = nil
    return true
  }
}
