import Bluetooth
import FrameworkSupport

/// Finds devices and connects to them.
///
/// The program must retain it: when it is released, everything it started ends, unless it has a restore identifier.
open class CBCentralManager: CBManager {
  /// A machine's features as a central.
  public struct Feature: OptionSet, Sendable {
    /// The bits.
    public let rawValue: UInt

    /// Makes a set from its bits.
    public init(rawValue: UInt) { self.rawValue = rawValue }

    /// Extended advertisements are received and can be connected to.
    public static let extendedScanAndConnect = Feature(rawValue: 1 << 0)
    /// Distances can be measured.
    public static let channelSounding = Feature(rawValue: 1 << 10)
  }

  struct Shared {
    weak var delegate: (any CBCentralManagerDelegate)?
    var isScanning = false
    /// Counts scans, to recognise reports from an ended one.
    var scan = 0
  }

  let shared: Guarded<Shared>
  let engine: CentralEngine

  /// Makes a manager without a delegate, on the main queue.
  public convenience init() {
    self.init(delegate: nil, queue: nil)
  }

  /// Makes a manager.
  /// - Parameters:
  ///   - delegate: It receives the events, and is held weakly.
  ///   - queue: The queue for its calls; nil is the main queue.
  public convenience init(delegate: (any CBCentralManagerDelegate)?, queue: DispatchQueue?) {
    self.init(delegate: delegate, queue: queue, options: nil)
  }

  /// Makes a manager.
  /// - Parameters:
  ///   - delegate: It receives the events, and is held weakly.
  ///   - queue: The queue for its calls; nil is the main queue.
  ///   - options: `CBCentralManagerOptionRestoreIdentifierKey` preserves the session when the program ends, see
  ///     docs/porting.md; the others have no effect on Linux.
  public init(delegate: (any CBCentralManagerDelegate)?, queue: DispatchQueue?, options: [String: Any]? = nil) {
    shared = Guarded(Shared(delegate: delegate))
    engine = CentralEngine(
      delivery: Delivery(to: queue), restoration: options?[CBCentralManagerOptionRestoreIdentifierKey] as? String)
    super.init(options: options)
    engine.manager = self
    engine.start()
  }

  deinit {
    engine.close()
    for peripheral in engine.peripherals.held where peripheral.state != .disconnected {
      peripheral.connectionEnded(nowConnecting: false)
    }
  }

  /// The delegate (weak). If the state is already known and unreported, it is delivered to a newly set delegate.
  open weak var delegate: (any CBCentralManagerDelegate)? {
    get { shared[\.delegate] }
    set {
      shared[\.delegate] = newValue
      guard newValue != nil else { return }
      engine.deliver { manager in
        guard manager.state != .unknown, let delegate = manager.delegate, manager.reportState() else { return }
        delegate.centralManagerDidUpdateState(manager)
      }
    }
  }

  /// True while scanning.
  open var isScanning: Bool { shared[\.isScanning] }

  /// Returns true if this machine supports all of these; false, as bled does not report it.
  open class func supports(_ features: CBCentralManager.Feature) -> Bool { features.isEmpty }

  /// Starts a scan, or replaces it.
  /// - Parameters:
  ///   - serviceUUIDs: Only devices that advertise one of these; all if nil or empty.
  ///   - options: Keys named `CBCentralManagerScanOption…`.
  open func scanForPeripherals(withServices serviceUUIDs: [CBUUID]?, options: [String: Any]? = nil) {
    guard isUsable(for: "scanForPeripherals") else { return }
    let scan = shared.with {
      $0.isScanning = true
      $0.scan += 1
      return $0.scan
    }
    observers.changed()
    let solicited = options?[CBCentralManagerScanOptionSolicitedServiceUUIDsKey] as? [CBUUID]
    engine.scan(
      Scan(
        number: scan, services: (serviceUUIDs ?? []).map(\.value), solicited: (solicited ?? []).map(\.value),
        duplicates: options?.flag(CBCentralManagerScanOptionAllowDuplicatesKey) ?? false))
  }

  /// Ends the scan; the delegate hears of no device after this.
  open func stopScan() {
    guard isUsable(for: "stopScan") else { return }
    shared.with {
      $0.isScanning = false
      $0.scan += 1
    }
    observers.changed()
    engine.stopScan()
  }

  /// Connects to a peripheral, without a time limit. The delegate receives the result.
  /// - Parameters:
  ///   - peripheral: A peripheral of this manager. Another manager's is adopted. If that manager uses the device, or
  ///     this one has an object for it, this one's own object is connected and passed to the delegate.
  ///   - options: Keys named `CBConnectPeripheralOption…`.
  open func connect(_ peripheral: CBPeripheral, options: [String: Any]? = nil) {
    guard isUsable(for: "connect") else { return }
    let isMine = peripheral.engine === engine || engine.adopt(peripheral)
    if !isMine {
      Misuse.log(
        "connect with \(peripheral) of another manager: use the object that didConnect gives, it stays as it is")
    }
    let peripheral = isMine ? peripheral : engine.counterpart(of: peripheral)
    peripheral.change { if $0.state == .disconnected { $0.state = .connecting } }
    engine.links.connect(
      peripheral, after: options?.number(CBConnectPeripheralOptionStartDelayKey) ?? 0,
      autoReconnect: options?.flag(CBConnectPeripheralOptionEnableAutoReconnect) ?? false, isRetained: !isMine)
  }

  /// Ends the connection with a peripheral, or the wait for it. The link goes down when no other program uses it.
  open func cancelPeripheralConnection(_ peripheral: CBPeripheral) {
    guard isUsable(for: "cancelPeripheralConnection"),
      let peripheral = peripheral.engine === engine ? peripheral : engine.peripherals.held(peripheral.identifier)
    else { return }
    peripheral.change { if $0.state != .disconnected { $0.state = .disconnecting } }
    engine.links.cancel(peripheral)
  }

  /// Returns the peripherals with these identifiers known to this machine.
  open func retrievePeripherals(withIdentifiers identifiers: [UUID]) -> [CBPeripheral] {
    guard isUsable(for: "retrievePeripherals") else { return [] }
    return engine.known(identifiers)
  }

  /// Returns the peripherals connected to this machine, for any program, with one of these services. To use one,
  /// connect to it.
  open func retrieveConnectedPeripherals(withServices serviceUUIDs: [CBUUID]) -> [CBPeripheral] {
    guard isUsable(for: "retrieveConnectedPeripherals") else { return [] }
    return engine.connected(withServices: serviceUUIDs.map(\.value))
  }

  /// Reports matching connections of all other managers and programs to the delegate; nil stops that.
  /// - Parameter options: `peripheralUUIDs` and `serviceUUIDs`: one of them must match. Empty: all connections.
  open func registerForConnectionEvents(options: [CBConnectionEventMatchingOption: Any]? = nil) {
    engine.watchConnections(
      options.map { options in
        ConnectionEvents.Filter(
          identifiers: (options[.peripheralUUIDs] as? [UUID]).map { Set($0) },
          services: (options[.serviceUUIDs] as? [CBUUID])?.map(\.value))
      })
  }
}
