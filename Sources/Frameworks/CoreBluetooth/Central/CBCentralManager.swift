import Bluetooth
import FrameworkSupport

/// Finds devices and connects to them.
///
/// The program must retain it: when it is released, everything that it started ends, unless it has a restore
/// identifier.
open class CBCentralManager: CBManager {
  /// The features of a machine as a central.
  public struct Feature: OptionSet, Sendable {
    /// The bits.
    public let rawValue: UInt

    /// Makes a set from its bits.
    public init(rawValue: UInt) { self.rawValue = rawValue }

    /// Extended advertisements are heard and can be connected to.
    public static let extendedScanAndConnect = Feature(rawValue: 1 << 0)
    /// Distances can be measured.
    public static let channelSounding = Feature(rawValue: 1 << 10)
  }

  struct Shared {
    weak var delegate: (any CBCentralManagerDelegate)?
    var isScanning = false
    /// Counts scans, to recognise reports of one that has ended.
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
  ///   - queue: The queue on which it is called; nil is the main queue.
  public convenience init(delegate: (any CBCentralManagerDelegate)?, queue: DispatchQueue?) {
    self.init(delegate: delegate, queue: queue, options: nil)
  }

  /// Makes a manager.
  /// - Parameters:
  ///   - delegate: It receives the events, and is held weakly.
  ///   - queue: The queue on which it is called; nil is the main queue.
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

  /// The delegate, held weakly. One that is set when the state is known and no delegate was told of it is told.
  open weak var delegate: (any CBCentralManagerDelegate)? {
    get { shared[\.delegate] }
    set {
      shared[\.delegate] = newValue
      guard newValue != nil else { return }
      engine.deliver { manager in
        guard manager.state != .unknown, let delegate = manager.delegate, manager.tellState() else { return }
        delegate.centralManagerDidUpdateState(manager)
      }
    }
  }

  /// Whether a scan goes on.
  open var isScanning: Bool { shared[\.isScanning] }

  /// Whether this machine can do all of these; false: bled does not tell.
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
  ///   - peripheral: One of this manager's. Another manager's becomes this one's. If that manager uses the
  ///     device, or this one has an object for it, this one's is connected, which the delegate is given.
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

  /// The peripherals with these identifiers that this machine knows.
  open func retrievePeripherals(withIdentifiers identifiers: [UUID]) -> [CBPeripheral] {
    guard isUsable(for: "retrievePeripherals") else { return [] }
    return engine.known(identifiers)
  }

  /// The peripherals that are connected to this machine, for any program, and have one of these services. To use one,
  /// connect to it.
  open func retrieveConnectedPeripherals(withServices serviceUUIDs: [CBUUID]) -> [CBPeripheral] {
    guard isUsable(for: "retrieveConnectedPeripherals") else { return [] }
    return engine.connected(withServices: serviceUUIDs.map(\.value))
  }

  /// Reports matching connections, of all managers and programs but this manager, to the delegate; nil stops that.
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
