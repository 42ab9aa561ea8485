import BledConnection
import BledRPC
import Bluetooth

/// The parts of the facade that follow bled's state.
protocol OwnSessionObserver: AnyObject {
  /// bled is available: its adapters, its known devices and the bonds.
  func began(_ adapters: [AdapterDescription])
  func listed(_ adapters: [AdapterDescription])
  func listed(_ peripherals: [PeripheralList.Entry])
  func listed(_ bonds: [BondDescription])
  func changed(_ adapter: AdapterDescription)
  func linkChanged(_ change: PeripheralLinkChanged.Params)
  /// A device visited in this session has other attributes.
  func servicesChanged(_ peripheral: String)
  /// The connection to bled is lost.
  func lost(_ error: BluetoothError)
}

/// The facade's own session: it watches adapters, links and bonds.
final class OwnSession: SessionHolder {
  let name = "org.bluez"
  let mayPair = false
  weak var observer: (any OwnSessionObserver)?
  private let lasting: LastingSession

  init(_ context: Context) {
    lasting = LastingSession(named: name, context.connector, context.clock)
    lasting.began = { [unowned self] in began($0) }
    lasting.notified = { [unowned self] in notified($0, $1) }
    lasting.lost = { [unowned self] in observer?.lost($0) }
    // Changes by a message are sent at once.
    lasting.handled = { [context] in context.flush() }
  }

  var session: DaemonSession { lasting.session ?? DaemonSession() }

  /// True if bled has accepted it.
  var isReady: Bool { lasting.session != nil }

  func start() { lasting.start() }

  private func began(_ opened: SessionOpen.Result) {
    observer?.began(opened.adapters)
    lasting.session?.callUnawaited(PeripheralWatch.self, PeripheralWatch.Params(on: true))
    readDevices()
    readBonds()
  }

  /// Reads the adapters again.
  func readAdapters() {
    lasting.session?.call(AdapterList.self, Empty()) { [weak self] in
      if case .success(let list) = $0 { self?.observer?.listed(list.adapters) }
    }
  }

  /// Reads the devices again.
  /// - Parameter completion: called once they are known, or bled cannot be reached.
  func readDevices(_ completion: @escaping () -> Void = {}) {
    guard let session = lasting.session else { return completion() }
    session.call(PeripheralList.self, Empty()) { [weak self] in
      if case .success(let list) = $0 { self?.observer?.listed(list.peripherals) }
      completion()
    }
  }

  /// Reads the bonds again.
  func readBonds() {
    lasting.session?.call(PairingList.self, Empty()) { [weak self] in
      if case .success(let list) = $0 { self?.observer?.listed(list.bonds) }
    }
  }

  private func notified(_ name: String, _ message: RPCMessage) {
    switch name {
    case AdapterChanged.name:
      if let adapter = try? message.params(AdapterDescription.self) { observer?.changed(adapter) }
    case PeripheralLinkChanged.name:
      if let change = try? message.params(PeripheralLinkChanged.Params.self) { observer?.linkChanged(change) }
    case PairingForgotten.name: readBonds()
    case GATTServicesChanged.name:
      if let change = try? message.params(GATTServicesChanged.Params.self) {
        observer?.servicesChanged(change.peripheral)
      }
    default: break
    }
  }

  func close() { lasting.close() }
}
