import BledClient
import BledRPC
import Bluetooth
import FrameworkSupport

/// A scan for a module beside this one, with the daemon's filters: it runs whenever Bluetooth can be used. Everything
/// runs on `queue`, unless noted otherwise.
package final class ScanEngine: ManagerEngine, @unchecked Sendable {
  /// The scan's events.
  package enum Event {
    /// True if bled's policy permits this user to scan.
    case permitted(Bool)
    /// Bluetooth has another state. The scan runs while it is poweredOn.
    case changed(CBManagerState)
    /// The daemon has begun the wanted scan, or refused it.
    case decided(BluetoothError?)
    /// A device other than this program itself was discovered.
    case heard(ScanReport.Params)
  }

  /// Receives the events; set it before `start`.
  package var onEvent: (Event) -> Void = { _ in }
  /// The wanted scan; nil: none.
  private var wanted: ScanStart.Params?
  /// The last wanted scan's number.
  private var lastNumber = 0

  /// Makes an engine without a scan.
  /// - Parameter socket: The daemon's; nil: the one named in the environment.
  package init(socket: String?) {
    super.init(delivery: Delivery(to: nil), restoration: nil, socket: socket)
  }

  override var permissions: [Permission] { [.scan] }

  override func observe(_ client: BledClient) {
    observe(ScanReport.self, of: client) { [weak self] report in
      guard let self, wanted != nil, !isOwn(report.address) else { return }
      onEvent(.heard(report))
    }
  }

  override func decided(isPermitted: Bool) { onEvent(.permitted(isPermitted)) }

  override func stateChanged(from old: CBManagerState) {
    if state == .poweredOn, let wanted { begin(wanted) }
    onEvent(.changed(state))
  }

  override func closed() {
    wanted = nil
    onEvent = { _ in }
  }

  /// Starts a scan, or replaces it; nil ends it. On `queue`.
  package func scan(_ params: ScanStart.Params?) {
    let was = wanted
    wanted = params
    lastNumber += 1
    guard state == .poweredOn else { return }
    if let params {
      begin(params)
    } else if was != nil {
      call(ScanStop.self, .init())
    }
  }

  private func begin(_ params: ScanStart.Params) {
    var params = params
    params.adapter = adapter
    call(ScanStart.self, params) { [weak self, number = lastNumber] result in
      guard let self, number == lastNumber else { return }
      onEvent(.decided(result.failure))
    }
  }
}
