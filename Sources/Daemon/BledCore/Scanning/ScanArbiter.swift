import Adapter
import BledRPC
import Bluetooth

/// Combines the scan requests of all sessions on one adapter into the one scan that it runs.
///
/// | State   | Input                              | Action                          |
/// |---------|------------------------------------|---------------------------------|
/// | no scan | a request                          | scan as requested               |
/// | scan    | a request changes the union        | scan with the union             |
/// | scan    | a request that changes nothing     | none                            |
/// | scan    | the last request is cancelled      | stop                            |
///
/// The union is active if any request is, and listens on the PHYs of all. Only if all requests are for the presence of
/// devices, with one time for each, the controller may watch for them. An adapter that was away resumes its scan.
struct ScanArbiter<Who: Hashable> {
  /// The next step of the adapter.
  enum Action: Hashable {
    case none
    case set(ScanParameters?)
  }

  private var requests: [Who: ScanParameters] = [:]
  private var wanted: ScanParameters?

  /// Whether scan responses are asked for.
  var isActive: Bool { wanted?.isActive ?? false }

  /// The devices for which the controller is to watch; nil: it is to report all.
  var watched: WatchedDevices? { wanted?.watched }

  /// Sets or cancels (nil) the request of one party.
  mutating func request(_ parameters: ScanParameters?, of who: Who) -> Action {
    requests[who] = parameters
    let union = requests.values.reduce(nil as ScanParameters?) { union, request in
      guard var union else { return request }
      union.isActive = union.isActive || request.isActive
      union.phys.formUnion(request.phys)
      union.watched = request.watched.flatMap { union.watched?.union($0) }
      // The wider window in proportion to its interval hears more.
      if request.window.inSeconds * union.interval.inSeconds > union.window.inSeconds * request.interval.inSeconds {
        union.window = request.window
        union.interval = request.interval
      }
      return union
    }
    guard union != wanted else { return .none }
    wanted = union
    return .set(union)
  }
}

extension ScanParameters {
  /// For sessions in the background: a tenth of the time.
  static let background = ScanParameters(isActive: true, interval: .milliseconds(1280), window: .milliseconds(128))

  /// As often as a scan in the background: it goes on for as long as a device is waited for.
  static let searching = ScanParameters(
    isActive: false, interval: .milliseconds(320), window: .milliseconds(32))
}

extension WatchedDevices {
  /// The devices of both, and the number of the later one; nil if one is in both with another time.
  fileprivate func union(_ other: WatchedDevices) -> WatchedDevices? {
    guard other.timeouts.allSatisfy({ timeouts[$0] ?? $1 == $1 }) else { return nil }
    return WatchedDevices(
      timeouts.merging(other.timeouts) { first, _ in first }, number: max(number, other.number))
  }
}
