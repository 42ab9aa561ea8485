import Adapter
import BledRPC
import Bluetooth

/// The parts of the facade that hear of bled's state.
protocol OwnSessionObserver: AnyObject {
  /// bled is there: its adapters, the devices that it knows and the bonds.
  func began(_ adapters: [AdapterDescription])
  func listed(_ adapters: [AdapterDescription])
  func listed(_ peripherals: [PeripheralList.Entry])
  func listed(_ bonds: [BondDescription])
  func changed(_ adapter: AdapterDescription)
  func linkChanged(_ change: PeripheralLinkChanged.Params)
  /// bled is gone.
  func lost(_ error: BluetoothError)
}

/// The facade's own session: it watches adapters, links and bonds, and is opened again when bled comes back.
final class OwnSession {
  /// The pause before bled is tried again.
  private static let pause = Duration.seconds(1)

  weak var observer: (any OwnSessionObserver)?
  private let context: Context
  private var session: DaemonSession?
  /// Whether bled has accepted it.
  private(set) var isReady = false

  init(_ context: Context) { self.context = context }

  func start() {
    let session = DaemonSession(
      context,
      DaemonSession.Observer(
        notified: { [unowned self] in notified($0, $1) },
        asked: { [unowned self] id, method, _ in
          self.session?.refuse(
            id, RPCError(code: RPCError.methodNotFound, message: "this client does not answer \(method)"))
        },
        ended: { [unowned self] in ended($0) }))
    self.session = session
    session.call(SessionOpen.self, SessionOpen.Params(name: "org.bluez")) { [weak self] result in
      guard let self, case .success(let opened) = result else { return }
      isReady = true
      observer?.began(opened.adapters)
      session.tell(PeripheralWatch.self, PeripheralWatch.Params(on: true))
      readDevices()
      readBonds()
    }
  }

  /// Asks for the adapters again.
  func readAdapters() {
    session?.call(AdapterList.self, Empty()) { [weak self] in
      if case .success(let list) = $0 { self?.observer?.listed(list.adapters) }
    }
  }

  /// Asks for the devices again.
  /// - Parameter completion: called once they are known, or bled cannot be asked.
  func readDevices(_ completion: @escaping () -> Void = {}) {
    guard let session else { return completion() }
    session.call(PeripheralList.self, Empty()) { [weak self] in
      if case .success(let list) = $0 { self?.observer?.listed(list.peripherals) }
      completion()
    }
  }

  /// Asks for the bonds again.
  func readBonds() {
    session?.call(PairingList.self, Empty()) { [weak self] in
      if case .success(let list) = $0 { self?.observer?.listed(list.bonds) }
    }
  }

  private func notified(_ name: String, _ message: RPCMessage) {
    switch name {
    case AdapterChanged.name:
      if let adapter = try? message.params(AdapterDescription.self) { observer?.changed(adapter) }
    case PeripheralLinkChanged.name:
      if let change = try? message.params(PeripheralLinkChanged.Params.self) { observer?.linkChanged(change) }
    default: break
    }
  }

  private func ended(_ error: BluetoothError?) {
    (session, isReady) = (nil, false)
    guard let error else { return }
    observer?.lost(error)
    _ = context.schedule(after: Self.pause) { [weak self] in self?.start() }
  }

  func close() { session?.close() }
}
