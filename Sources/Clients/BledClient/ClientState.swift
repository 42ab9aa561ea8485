import BledConnection
import BledRPC
import Bluetooth

/// The observers, scans and uses of a client. It does no I/O: `ClientCore` does that.
///
/// | Input                     | Effect                                                                 |
/// |---------------------------|------------------------------------------------------------------------|
/// | observe(notification)     | its observers are called in the order of their registration            |
/// | scan: begin               | nothing: the daemon may refuse it                                      |
/// | scan: started             | the ends of the earlier scans of the same number                       |
/// | scan: refused             | the earlier one continues, or is stopped if its stream has ended       |
/// | scan: end                 | it is stopped, unless a later one of the same number replaces it       |
/// | end                       | the ends of all observers, once                                        |
struct ClientState {
  typealias Completion = @Sendable (Result<RPCMessage, BluetoothError>) -> Void
  typealias Decoder = @Sendable (RPCMessage) throws(RPCError) -> any Sendable
  typealias Answerer = @Sendable (RPCMessage, RequestID) -> Void

  /// An observer of one kind of notification.
  struct Observer {
    var value: @Sendable (any Sendable) -> Void
    var end: @Sendable (BluetoothError?) -> Void
  }

  /// The observers of one kind of notification that need the same type: it is decoded once for all of them.
  struct ObserverGroup {
    fileprivate let type: ObjectIdentifier
    fileprivate(set) var decode: Decoder
    fileprivate var list: [(number: Int, observer: Observer)] = []

    var observers: [Observer] { list.map(\.observer) }
  }

  var links = Uses<LinkRequest>()
  var subscriptions = Uses<SubscriptionRequest>()
  var trains = Uses<TrainRequest>()
  var watches = Uses<WatchRequest>()
  private var observers: [OctetText: [ObserverGroup]] = [:]
  private var answerers: [OctetText: Answerer] = [:]
  /// The capability of the agent that answers the daemon's questions.
  var agent: PairingCapability?
  /// By the number at the daemon, nil for the scan without one: the started scan, and later ones waiting for their
  /// answers.
  private var scans: [Int?: [Scan]] = [:]

  private struct Scan {
    let number: Int
    /// Ends its stream.
    let replaced: @Sendable () -> Void
    var hasEnded = false
  }

  /// - Parameter type: The type that `decode` returns.
  mutating func observe(
    _ name: String, as type: Any.Type, _ number: Int, decode: @escaping Decoder, _ observer: Observer
  ) {
    let (name, type) = (OctetText(name), ObjectIdentifier(type))
    var groups = observers[name] ?? []
    let place = groups.firstIndex { $0.type == type } ?? groups.endIndex
    if place == groups.endIndex { groups.append(ObserverGroup(type: type, decode: decode)) }
    groups[place].list.append((number, observer))
    observers[name] = groups
  }

  mutating func stopObserving(_ name: String, _ number: Int) {
    let name = OctetText(name)
    guard var groups = observers[name] else { return }
    for place in groups.indices { groups[place].list.removeAll { $0.number == number } }
    groups.removeAll { $0.list.isEmpty }
    observers[name] = groups.isEmpty ? nil : groups
  }

  func observers(of name: String) -> [ObserverGroup] { observers[OctetText(name)] ?? [] }

  mutating func answer(_ method: String, with answerer: Answerer?) { answerers[OctetText(method)] = answerer }

  func answerer(of method: String) -> Answerer? { answerers[OctetText(method)] }

  /// Registers a scan before its request.
  /// - Parameters:
  ///   - scan: Its number at the daemon, unique among scans; nil for the scan without a number.
  ///   - replaced: Ends its stream when another scan replaces it.
  mutating func beginScan(_ number: Int, as scan: Int?, replaced: @escaping @Sendable () -> Void) {
    scans[scan, default: []].append(Scan(number: number, replaced: replaced))
  }

  /// The daemon has started it.
  /// - Returns: Functions that end the streams of the scans that it replaces.
  mutating func scanStarted(_ number: Int, as scan: Int?) -> [@Sendable () -> Void] {
    guard let index = scans[scan]?.firstIndex(where: { $0.number == number }) else { return [] }
    defer { scans[scan]?.removeSubrange(..<index) }
    return scans[scan]?[..<index].map(\.replaced) ?? []
  }

  /// The daemon has not started it: the earlier one continues.
  /// - Returns: As `endScan`, for the earlier one.
  mutating func scanRefused(_ number: Int, as scan: Int?) -> ScanEnd {
    scans[scan]?.removeAll { $0.number == number && !$0.hasEnded }
    guard let last = scans[scan]?.last, last.hasEnded else { return (false, []) }
    return endScan(last.number, as: scan)
  }

  /// True if the daemon is to stop the scan, and functions that end the streams of the replaced scans.
  typealias ScanEnd = (isStopped: Bool, replaced: [@Sendable () -> Void])

  /// The stream of a scan has ended, or its request was cancelled.
  mutating func endScan(_ number: Int, as scan: Int?) -> ScanEnd {
    guard let list = scans[scan], let index = list.firstIndex(where: { $0.number == number }) else {
      return (false, [])
    }
    guard index == list.endIndex - 1 else {
      scans[scan]?[index].hasEnded = true
      return (false, [])
    }
    scans[scan] = nil
    return (true, list[..<index].map(\.replaced))
  }

  /// - Returns: the observers to notify, in the order of their registration.
  mutating func end() -> [Observer] {
    defer { (observers, answerers, scans) = ([:], [:], [:]) }
    return observers.values.joined().flatMap(\.list).sorted { $0.number < $1.number }.map(\.observer)
  }
}
