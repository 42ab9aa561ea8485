import Adapter
import BledRPC
import Bluetooth

/// Combines all sessions' scan requests on one adapter into its one scan.
///
/// | State   | Input                              | Action                          |
/// |---------|------------------------------------|---------------------------------|
/// | no scan | a request                          | scan as requested               |
/// | scan    | a request changes the union        | scan with the union             |
/// | scan    | a request that changes nothing     | none                            |
/// | scan    | the last request is cancelled      | stop                            |
///
/// The union is active if any request is, and listens on the PHYs of all. The controller may watch only if all requests
/// are for the presence of devices, with one timeout per device. A returning adapter resumes its scan.
struct ScanArbiter<Who: Hashable> {
  /// The adapter's next step.
  enum Action: Hashable {
    case none
    case set(ScanParameters?)
  }

  private var requests: [Who: ScanParameters] = [:]
  private var wanted: ScanParameters?

  /// True if scan responses are requested.
  var isActive: Bool { wanted?.isActive ?? false }

  /// The devices for the controller to watch; nil: it reports all.
  var watched: WatchedDevices? { wanted?.watched }

  /// Sets or cancels (nil) a party's request.
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

  /// As often as a scan in the background: it continues for as long as a device is missing.
  static let searching = ScanParameters(
    isActive: false, interval: .milliseconds(320), window: .milliseconds(32))
}

extension WatchedDevices {
  /// The devices of both, and the later number; nil if a device has different timeouts.
  fileprivate func union(_ other: WatchedDevices) -> WatchedDevices? {
    guard other.timeouts.allSatisfy({ timeouts[$0] ?? $1 == $1 }) else { return nil }
    return WatchedDevices(
      timeouts.merging(other.timeouts) { first, _ in first }, number: max(number, other.number))
  }
}
