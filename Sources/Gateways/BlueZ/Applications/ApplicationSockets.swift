/// The sockets of applications' characteristics that accept or send their values this way instead of a message for each
/// (BlueZ, org.bluez.GattCharacteristic, AcquireWrite and AcquireNotify).
final class ApplicationSockets {
  private struct Key: Hashable {
    let client: String
    let path: String
    let direction: AcquiredDirection
  }

  private enum State {
    /// The program is asked; the number of the question, and the work waiting for its answer.
    case asked(Int, [(Bool) -> Void])
    case open(any PacketSocket)
    /// The program refuses one: it is not asked again.
    case refused
  }

  /// The number of sockets and questions that one program may have, and that all may have: descriptors are scarce.
  /// Beyond it the program is called instead, and also where more work than this waits for one answer.
  private static let maximumOfProgram = 64
  private static let maximum = 1024

  private struct Written {
    let value: [UInt8]
    let completion: (Bool) -> Void
  }

  private let context: Context
  private var states: [Key: State] = [:]
  /// The written values that wait until the program has read others.
  private var unsent: [Key: [Written]] = [:]
  /// The programs with unread values, because earlier ones wait.
  private var held: Set<String> = []
  private var lastQuestion = 0
  /// Called with each value of a program: the value, the path of its characteristic, the program.
  var received: ([UInt8], String, BusClient) -> Void = { _, _, _ in }

  init(_ context: Context) { self.context = context }

  /// Passes a value that a device has written. If the program does not read, the value waits, and so does the device.
  /// - Parameter completion: called with false if the caller has to call the program instead.
  func write(
    _ value: [UInt8], _ path: String, _ client: BusClient, _ options: BusValue, _ completion: @escaping (Bool) -> Void
  ) {
    let key = Key(client: client.name, path: path, direction: .writes)
    open(key, client, options) { [weak self] isOpen in
      guard isOpen, let self else { return completion(false) }
      send(Written(value: value, completion: completion), key)
    }
  }

  private func send(_ written: Written, _ key: Key) {
    guard case .open(let socket)? = states[key] else { return written.completion(false) }
    let waiting = unsent[key]?.count ?? 0
    switch waiting > 0 ? .full : socket.send(written.value) {
    case .sent: written.completion(true)
    case .full where waiting < Self.maximum: unsent[key, default: []].append(written)
    case .full, .failed: written.completion(false)
    }
  }

  private func sendWaiting(_ key: Key) {
    for written in unsent.removeValue(forKey: key) ?? [] { send(written, key) }
  }

  /// Sets whether the values of a program stay in its sockets, so that it eventually waits.
  func hold(_ client: BusClient, _ isOn: Bool) {
    if isOn { held.insert(client.name) } else { held.remove(client.name) }
    for (key, state) in states where key.client == client.name && key.direction == .values {
      if case .open(let socket) = state { socket.isReading = !isOn }
    }
  }

  /// Starts receiving a characteristic's values.
  /// - Parameter completion: called with false if the caller has to call the program instead.
  func begin(_ path: String, _ client: BusClient, _ options: BusValue, _ completion: @escaping (Bool) -> Void) {
    open(Key(client: client.name, path: path, direction: .values), client, options, completion)
  }

  /// A characteristic's values are no longer wanted.
  /// - Returns: false if they were not received over a socket.
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
    case .asked(let question, let waiting):
      guard waiting.count < Self.maximum else { return completion(false) }
      return states[key] = .asked(question, waiting + [completion])
    case nil: break
    }
    let isFull = states.count >= Self.maximum || states.keys.count { $0.client == client.name } >= Self.maximumOfProgram
    guard !isFull else { return completion(false) }
    lastQuestion += 1
    let question = lastQuestion
    states[key] = .asked(question, [completion])
    client.call(key.path, Interface.characteristic.rawValue, key.direction.rawValue, [options]) { [weak self] in
      self?.answered(question, key, client, try? $0.get())
    }
  }

  private func answered(_ question: Int, _ key: Key, _ client: BusClient, _ answer: [BusValue]?) {
    // An answer that is no longer wanted: its descriptor is closed with it.
    guard case .asked(question, let waiting)? = states[key] else { return }
    if case .descriptor(let descriptor)? = answer?.first,
      let socket = context.sockets.open(descriptor, { [weak self] in self?.happened(key, client, $0) })
    {
      socket.isReading = key.direction == .writes || !held.contains(key.client)
      states[key] = .open(socket)
      for work in waiting { work(true) }
    } else {
      states[key] = .refused
      for work in waiting { work(false) }
    }
  }

  private func happened(_ key: Key, _ client: BusClient, _ event: PacketSocketEvent) {
    guard case .open? = states[key] else { return }
    switch event {
    // A packet on the socket for written values is ignored.
    case .packet(let value): if key.direction == .values { received(value, key.path, client) }
    case .room: sendWaiting(key)
    case .end:
      states[key] = nil
      sendWaiting(key)
    }
  }

  /// A program's characteristics are no longer published, or it has left.
  func forget(_ client: BusClient, where isMeant: (String) -> Bool = { _ in true }) {
    for (key, state) in states where key.client == client.name && isMeant(key.path) {
      states[key] = nil
      // Devices wait for the answers to their writes; values have no waiting caller.
      if case .asked(_, let waiting) = state, key.direction == .writes { for work in waiting { work(false) } }
      sendWaiting(key)
    }
  }

  /// bled is available again, without subscribers: the next subscriber is reported to the programs as the first one.
  func forgetValues(_ client: BusClient) {
    for key in states.keys where key.client == client.name && key.direction == .values { states[key] = nil }
  }
}
