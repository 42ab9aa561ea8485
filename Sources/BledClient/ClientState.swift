import BledConnection
import BledRPC
import Bluetooth

/// The calls and observers of a client. It does no I/O: `ClientCore` does that.
///
/// | Input                     | Effect                                                                 |
/// |---------------------------|------------------------------------------------------------------------|
/// | observe(notification)     | its observers are called in the order of their registration            |
/// | begin(scan)               | the end of the previous scan                                           |
/// | end                       | the completions of all pending calls, once; the ends of all observers  |
struct ClientState {
  typealias Completion = @Sendable (Result<RPCMessage, BluetoothError>) -> Void
  typealias Decoder = @Sendable (RPCMessage) throws(RPCError) -> any Sendable
  typealias Answerer = @Sendable (RPCMessage, RequestID) -> Void

  /// An observer of one kind of notification.
  struct Observer {
    var value: @Sendable (any Sendable) -> Void
    var end: @Sendable (BluetoothError?) -> Void
  }

  var connection = ConnectionMachine<Completion>()
  private var observers: [OctetText: (decode: Decoder, list: [(number: Int, observer: Observer)])] = [:]
  private var answerers: [OctetText: Answerer] = [:]
  /// By the number at the daemon; nil for the scan without.
  private var scans: [Int?: (number: Int, replaced: @Sendable () -> Void)] = [:]
  /// The number of streams of each characteristic's values.
  private var subscriptions: [CharacteristicReference: Int] = [:]

  /// False: the connection has ended.
  mutating func observe(_ name: String, _ number: Int, decode: @escaping Decoder, _ observer: Observer) -> Bool {
    guard connection.isOpen else { return false }
    observers[OctetText(name), default: (decode, [])].list.append((number, observer))
    return true
  }

  mutating func stopObserving(_ name: String, _ number: Int) {
    let name = OctetText(name)
    observers[name]?.list.removeAll { $0.number == number }
    if observers[name]?.list.isEmpty == true { observers[name] = nil }
  }

  func observers(of name: String) -> (decode: Decoder, list: [Observer])? {
    observers[OctetText(name)].map { ($0.decode, $0.list.map(\.observer)) }
  }

  mutating func answer(_ method: String, with answerer: Answerer?) { answerers[OctetText(method)] = answerer }

  func answerer(of method: String) -> Answerer? { answerers[OctetText(method)] }

  /// Begins a scan.
  /// - Parameters:
  ///   - scan: Its number at the daemon, of which there is one scan; nil for the one without.
  ///   - replaced: Ends its stream when another scan takes its place.
  /// - Returns: The same for the scan that it replaces.
  mutating func beginScan(
    _ number: Int, as scan: Int?, replaced: @escaping @Sendable () -> Void
  ) -> (@Sendable () -> Void)? {
    guard connection.isOpen else { return nil }
    return scans.updateValue((number, replaced), forKey: scan)?.replaced
  }

  /// Whether the scan of this number was still the current one.
  mutating func endScan(_ number: Int, as scan: Int?) -> Bool {
    guard scans[scan]?.number == number else { return false }
    scans.removeValue(forKey: scan)
    return true
  }

  mutating func addSubscription(_ reference: CharacteristicReference) { subscriptions[reference, default: 0] += 1 }

  /// Whether it was the last one of this characteristic.
  mutating func removeSubscription(_ reference: CharacteristicReference) -> Bool {
    let left = subscriptions[reference, default: 1] - 1
    subscriptions[reference] = left > 0 ? left : nil
    return left == 0
  }

  /// - Parameter error: nil if this side closed.
  /// - Returns: the observers to notify, and the events.
  mutating func end(
    _ error: BluetoothError?
  ) -> (calls: [Completion], observers: [Observer], reason: BluetoothError?) {
    guard let (completions, reason) = connection.end(error) else { return ([], [], nil) }
    defer { (observers, answerers, scans) = ([:], [:], [:]) }
    let all = observers.values.flatMap(\.list).sorted { $0.number < $1.number }
    return (completions, all.map(\.observer), reason)
  }
}
