/// The sockets of applications' characteristics that take or give their values this way instead of a message for each
/// (BlueZ, org.bluez.GattCharacteristic, AcquireWrite and AcquireNotify).
final class ApplicationSockets {
  enum Direction: String {
    /// The values that devices write.
    case writes = "AcquireWrite"
    /// The values that the program notifies.
    case values = "AcquireNotify"

    /// A characteristic that has the property has the method.
    var property: String { self == .writes ? "WriteAcquired" : "NotifyAcquired" }
  }

  private struct Key: Hashable {
    let client: String
    let path: String
    let direction: Direction
  }

  private enum State {
    /// The program is asked; the work that waits for its answer.
    case asked([(Bool) -> Void])
    case open(any PacketSocket)
    /// The program does not give one: it is not asked again.
    case refused
  }

  private let context: Context
  private var states: [Key: State] = [:]
  /// Called with each value of a program: the value, the path of its characteristic, the program.
  var received: ([UInt8], String, BusClient) -> Void = { _, _, _ in }

  init(_ context: Context) { self.context = context }

  /// Passes a value that a device has written.
  /// - Parameter completion: called with false if the program is to be called instead.
  func write(
    _ value: [UInt8], _ path: String, _ client: BusClient, _ options: BusValue, _ completion: @escaping (Bool) -> Void
  ) {
    let key = Key(client: client.name, path: path, direction: .writes)
    open(key, client, options) { [weak self] isOpen in
      guard isOpen, case .open(let socket)? = self?.states[key] else { return completion(false) }
      completion(socket.send(value))
    }
  }

  /// Begins to take a characteristic's values.
  /// - Parameter completion: called with false if the program is to be called instead.
  func begin(_ path: String, _ client: BusClient, _ options: BusValue, _ completion: @escaping (Bool) -> Void) {
    open(Key(client: client.name, path: path, direction: .values), client, options, completion)
  }

  /// Nobody wants a characteristic's values any more.
  /// - Returns: false if they did not come by a socket.
  func end(_ path: String, _ client: BusClient) -> Bool {
    switch states.removeValue(forKey: Key(client: client.name, path: path, direction: .values)) {
    case .asked, .open: true
    case .refused, nil: false
    }
  }

  private func open(_ key: Key, _ client: BusClient, _ options: BusValue, _ completion: @escaping (Bool) -> Void) {
    switch states[key] {
    case .open: return completion(true)
    case .refused: return completion(false)
    case .asked(let waiting): return states[key] = .asked(waiting + [completion])
    case nil: states[key] = .asked([completion])
    }
    client.call(key.path, Interface.characteristic.rawValue, key.direction.rawValue, [options]) { [weak self] in
      self?.answered(key, client, try? $0.get())
    }
  }

  private func answered(_ key: Key, _ client: BusClient, _ answer: [BusValue]?) {
    // Otherwise it is not wanted any more: the descriptor is closed with the answer.
    guard case .asked(let waiting)? = states[key] else { return }
    if case .descriptor(let descriptor)? = answer?.first,
      let socket = context.sockets.open(descriptor, { [weak self] in self?.happened(key, client, $0) })
    {
      states[key] = .open(socket)
      for work in waiting { work(true) }
    } else {
      states[key] = .refused
      for work in waiting { work(false) }
    }
  }

  private func happened(_ key: Key, _ client: BusClient, _ value: [UInt8]?) {
    guard case .open? = states[key] else { return }
    // A packet on the socket for written values concerns nobody.
    if let value { return key.direction == .values ? received(value, key.path, client) : () }
    states[key] = nil
  }

  /// A program's characteristics are not published any more, or it has left.
  func forget(_ client: BusClient, where isMeant: (String) -> Bool = { _ in true }) {
    for (key, state) in states where key.client == client.name && isMeant(key.path) {
      states[key] = nil
      if case .asked(let waiting) = state { for work in waiting { work(false) } }
    }
  }

  /// bled is there again, without subscribers: those that come are told to the programs as the first ones.
  func forgetValues(_ client: BusClient) {
    for key in states.keys where key.client == client.name && key.direction == .values { states[key] = nil }
  }
}
