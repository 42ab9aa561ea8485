import BledRPC
import Bluetooth

// The work behind the calls of `CBPeripheral`.

extension CBPeripheral {
  /// How the daemon names this device.
  var id: String { identifier.uuidString }

  /// Queues a call on the device; `then` comes on the program's queue if the connection still holds by then.
  /// - Parameter isCommand: True for a write without response, which is sent even if the program then disconnects.
  func request<Method: RPCMethod>(
    _ name: String, _ method: Method.Type, _ params: Method.Params, isCommand: Bool = false,
    then: @escaping (CBPeripheral, Result<Method.Result, BluetoothError>) -> Void
  ) {
    guard state == .connected else { return Misuse.log("\(name) on \(self), which is not connected: ignored") }
    engine.links.request(self, method, params, isCommand: isCommand, then: then)
  }

  func writeWithoutResponse(_ data: Data, _ characteristic: CBCharacteristic) {
    guard state == .connected else {
      return logOnce("connection", "writeValue without response on \(self), which is not connected: ignored")
    }
    guard characteristic.properties.contains(.writeWithoutResponse) else {
      return logOnce(
        "property \(characteristic.handle)",
        "writeValue without response for \(characteristic) is not allowed by its properties: ignored")
    }
    let longest = maximumWriteValueLength(for: .withoutResponse)
    guard data.count <= longest else {
      return logOnce(
        "length", "writeValue: \(data.count) bytes do not fit into a write without response, \(longest) do: dropped")
    }
    guard shared.with({ $0.writes.begin() }) else {
      return logOnce(
        "room", "writeValue without response while there is no room (see canSendWriteWithoutResponse): dropped")
    }
    request(
      "writeValue", GATTWrite.self,
      .init(peripheral: id, handle: characteristic.handle, value: HexBytes(Array(data)), response: false),
      isCommand: true
    ) { peripheral, result in
      if let error = result.failure, peripheral.isFirst("refusal") {
        Misuse.logFailure("a write without response was refused, and so may be others: \(error.message)")
      }
      guard peripheral.shared.with({ $0.writes.end() }) else { return }
      peripheral.delegate?.peripheralIsReady(toSendWriteWithoutResponse: peripheral)
    }
  }

  /// Logs a misuse once for each connection: programs write in loops.
  private func logOnce(_ mistake: String, _ message: String) {
    if isFirst(mistake) { Misuse.log("\(message). This is logged once") }
  }

  /// Returns true the first time on this connection.
  private func isFirst(_ mistake: String) -> Bool { shared.with { $0.toldMistakes.insert(mistake).inserted } }

  /// Adopts the discovered attributes, or returns the error for the delegate.
  func adopt<Found>(
    _ result: Result<Found, BluetoothError>, _ body: (inout Shared, Found) -> Void
  ) -> (any Error)? {
    switch result {
    case .success(let found):
      shared.with { body(&$0, found) }
      return nil
    case .failure(let error):
      return error.coreBluetooth
    }
  }

  /// The device reports changed attributes in this range. If services were only added none is void, but a program that
  /// has discovered services is notified.
  func servicesChanged(_ range: ClosedRange<UInt16>) {
    let (gone, hasLooked) = shared.with { shared in
      let gone = shared.attributes.invalidate(range)
      shared.services?.removeAll { service in gone.contains { $0 === service } }
      return (gone, shared.services != nil)
    }
    if hasLooked || !gone.isEmpty { delegate?.peripheral(self, didModifyServices: gone) }
  }

  /// Changes observed properties.
  func change(_ body: (inout Shared) -> Void) {
    shared.with(body)
    observers.changed()
  }

  /// Takes a name over.
  /// - Returns: True if another name was known before.
  func adoptName(_ name: String, isRead: Bool) -> Bool {
    shared.with { shared in
      guard isRead || !shared.isNameRead else { return false }
      shared.isNameRead = shared.isNameRead || isRead
      defer { shared.name = name }
      return shared.name != nil && shared.name != name
    }
  }

  /// The connection has ended: no subscription and no call remains.
  func connectionEnded(nowConnecting: Bool) {
    let characteristics = shared.with { $0.attributes.characteristics.values }
    for characteristic in characteristics { characteristic.contents[\.isNotifying] = false }
    change {
      $0.state = nowConnecting ? .connecting : .disconnected
      $0.mtu = 23
      $0.writes = UnansweredWrites()
      $0.toldMistakes = []
    }
  }
}

extension Result {
  var failure: Failure? {
    if case .failure(let error) = self { error } else { nil }
  }
}

/// The unsent writes without response.
///
/// | State   | Input                | Effect                                                      |
/// |---------|----------------------|-------------------------------------------------------------|
/// | open    | none waits           | the program is notified, unless it was since the last write |
/// | open    | the 32nd waits       | blocked: `canSendWriteWithoutResponse` is false             |
/// | blocked | 256 wait             | more are dropped                                            |
/// | blocked | at most 8 wait again | open: the program is notified                               |
///
/// Programs that write and then wait for readiness, without checking `canSendWriteWithoutResponse`, continue after the
/// first write.
struct UnansweredWrites {
  private(set) var isBlocked = false
  private var count = 0
  /// True if there was a write since readiness was last reported.
  private var isUntold = false

  /// Another one is to be sent. False: there is no room.
  mutating func begin() -> Bool {
    guard count < 256 else { return false }
    count += 1
    isUntold = true
    if count >= 32 { isBlocked = true }
    return true
  }

  /// A write was sent. Returns true if the program has to be notified about room.
  mutating func end() -> Bool {
    guard count > 0 else { return false }
    count -= 1
    guard isUntold, isBlocked ? count <= 8 : count == 0 else { return false }
    (isBlocked, isUntold) = (false, false)
    return true
  }
}
