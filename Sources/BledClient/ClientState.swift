import BledRPC
import Bluetooth

/// The pending calls and observers of a client. It does no I/O: `ClientCore` does that.
///
/// | Input                     | What happens                                                           |
/// |---------------------------|------------------------------------------------------------------------|
/// | begin(call)               | assigns an id; after the end: the error at once                        |
/// | answer(id)                | the call's completion, once; `late` if it was abandoned                |
/// | abandon(id)               | the call's completion, once; the answer then goes to `late`            |
/// | notification              | its observers, in the order of their registration                      |
/// | an error without an id    | the reason of the end, if nothing else precedes that                   |
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

  private struct Call {
    var completion: Completion?
    var late: Completion?
  }

  /// After the end: nil if this side closed.
  private(set) var ended: BluetoothError??
  /// The daemon's last message, if it was an error without an id: with it the daemon refuses sessions.
  var refusal: BluetoothError?
  private var calls: [Int: Call] = [:]
  private var observers: [OctetText: (decode: Decoder, list: [(number: Int, observer: Observer)])] = [:]
  private var answerers: [OctetText: Answerer] = [:]
  private var scan: (number: Int, replaced: @Sendable () -> Void)?
  /// The number of streams of each characteristic's values.
  private var subscriptions: [CharacteristicReference: Int] = [:]

  /// Registers a call that is about to be sent. False: the connection has ended, call `completion` with the error.
  mutating func begin(_ id: Int, _ completion: @escaping Completion, late: Completion?) -> Bool {
    guard ended == nil else { return false }
    calls[id] = Call(completion: completion, late: late)
    return true
  }

  mutating func answer(_ id: Int) -> Completion? {
    guard let call = calls.removeValue(forKey: id) else { return nil }
    return call.completion ?? call.late
  }

  mutating func abandon(_ id: Int) -> Completion? {
    guard let call = calls[id], let completion = call.completion else { return nil }
    calls[id] = call.late.map { Call(completion: nil, late: $0) }
    return completion
  }

  /// False: the connection has ended.
  mutating func observe(_ name: String, _ number: Int, decode: @escaping Decoder, _ observer: Observer) -> Bool {
    guard ended == nil else { return false }
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

  /// Begins a scan: a client has one.
  /// - Parameter replaced: What ends its stream when another scan takes its place.
  /// - Returns: The same for the scan that it replaces.
  mutating func beginScan(_ number: Int, replaced: @escaping @Sendable () -> Void) -> (@Sendable () -> Void)? {
    guard ended == nil else { return nil }
    defer { scan = (number, replaced) }
    return scan?.replaced
  }

  /// Whether the scan of this number was still the current one.
  mutating func endScan(_ number: Int) -> Bool {
    guard scan?.number == number else { return false }
    scan = nil
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
  /// - Returns: whom to notify, and of what.
  mutating func end(
    _ error: BluetoothError?
  ) -> (calls: [Completion], observers: [Observer], reason: BluetoothError?) {
    guard ended == nil else { return ([], [], nil) }
    let reason = error.map { refusal ?? $0 }
    ended = .some(reason)
    defer { (calls, observers, answerers, scan) = ([:], [:], [:], nil) }
    let completions = calls.sorted { $0.key < $1.key }.compactMap(\.value.completion)
    let all = observers.values.flatMap(\.list).sorted { $0.number < $1.number }
    return (completions, all.map(\.observer), reason)
  }
}
