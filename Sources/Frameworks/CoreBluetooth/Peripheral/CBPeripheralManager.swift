import Beacons
import Bluetooth
import FrameworkSupport

/// Publishes services, advertises them, and serves the connecting centrals.
///
/// The program must retain it: when it is released, everything it started ends, unless it has a restore identifier.
open class CBPeripheralManager: CBManager {
  struct Shared {
    weak var delegate: (any CBPeripheralManagerDelegate)?
    var isAdvertising = false
    var updates = WaitingUpdates()
  }

  let shared: Guarded<Shared>
  let engine: PeripheralEngine

  /// Makes a manager without a delegate, on the main queue.
  public convenience init() {
    self.init(delegate: nil, queue: nil)
  }

  /// Makes a manager.
  /// - Parameters:
  ///   - delegate: It receives the events, and is held weakly.
  ///   - queue: The queue for its calls; nil is the main queue.
  public convenience init(delegate: (any CBPeripheralManagerDelegate)?, queue: DispatchQueue?) {
    self.init(delegate: delegate, queue: queue, options: nil)
  }

  /// Makes a manager.
  /// - Parameters:
  ///   - delegate: It receives the events, and is held weakly.
  ///   - queue: The queue for its calls; nil is the main queue.
  ///   - options: `CBPeripheralManagerOptionRestoreIdentifierKey` preserves the session when the program ends, see
  ///     docs/porting.md; the others have no effect on Linux.
  public init(delegate: (any CBPeripheralManagerDelegate)?, queue: DispatchQueue?, options: [String: Any]? = nil) {
    shared = Guarded(Shared(delegate: delegate))
    engine = PeripheralEngine(
      delivery: Delivery(to: queue), restoration: options?[CBPeripheralManagerOptionRestoreIdentifierKey] as? String)
    super.init(options: options)
    engine.manager = self
    engine.start()
  }

  deinit { engine.close() }

  /// The delegate (weak). If the state is already known and unreported, it is delivered to a newly set delegate.
  open weak var delegate: (any CBPeripheralManagerDelegate)? {
    get { shared[\.delegate] }
    set {
      shared[\.delegate] = newValue
      guard newValue != nil else { return }
      engine.deliver { manager in
        guard manager.state != .unknown, let delegate = manager.delegate, manager.reportState() else { return }
        delegate.peripheralManagerDidUpdateState(manager)
      }
    }
  }

  /// True while it advertises.
  open var isAdvertising: Bool { shared[\.isAdvertising] }

  /// This program's permission to use Bluetooth.
  @available(*, deprecated, message: "Use CBManager.authorization")
  open class func authorizationStatus() -> CBPeripheralManagerAuthorizationStatus {
    authorization == .denied ? .denied : .authorized
  }

  /// Starts to advertise.
  /// - Parameter advertisementData: The name and the services, under `CBAdvertisementDataLocalNameKey` and
  ///   `CBAdvertisementDataServiceUUIDsKey`, or an iBeacon, as `peripheralData(withMeasuredPower:)` of Core Location's
  ///   `CLBeaconRegion` gives it; other keys are ignored.
  open func startAdvertising(_ advertisementData: [String: Any]?) {
    guard isUsable(for: "startAdvertising") else { return }
    let services = advertisementData?[CBAdvertisementDataServiceUUIDsKey] as? [CBUUID]
    engine.startAdvertising(
      name: advertisementData?[CBAdvertisementDataLocalNameKey] as? String, services: (services ?? []).map(\.value),
      beacon: (advertisementData?[IBeacon.advertisementKey] as? Data).flatMap { IBeacon($0) })
  }

  /// Ends the advertising.
  open func stopAdvertising() {
    guard isUsable(for: "stopAdvertising") else { return }
    shared[\.isAdvertising] = false
    engine.stopAdvertising()
  }

  /// Asks a central for another connection latency; the central decides.
  open func setDesiredConnectionLatency(_ latency: CBPeripheralManagerConnectionLatency, for central: CBCentral) {
    guard isUsable(for: "setDesiredConnectionLatency") else { return }
    engine.setLatency(latency, for: central.identifier)
  }

  /// Publishes a service. Its included services must have been published before.
  open func add(_ service: CBMutableService) {
    guard isUsable(for: "add") else { return }
    service.checkForPublishing()
    engine.add(service)
  }

  /// Removes a service.
  open func remove(_ service: CBMutableService) {
    guard isUsable(for: "remove") else { return }
    engine.remove(service)
  }

  /// Removes all services.
  open func removeAllServices() {
    guard isUsable(for: "removeAllServices") else { return }
    engine.removeAll()
  }

  /// Answers a read or a write, once; among several writes received together the first, for all.
  /// - Parameters:
  ///   - request: The delegate's request; for a read, with `value` set to the value from the offset on.
  ///   - result: `success`, or why it is refused.
  open func respond(to request: CBATTRequest, withResult result: CBATTError.Code) {
    request.answer.finish(result, value: request.value)
  }

  /// Sends a new value to subscribers.
  /// - Parameters:
  ///   - value: Up to 512 octets; a central receives the first `maximumUpdateValueLength` of them.
  ///   - characteristic: A published characteristic.
  ///   - centrals: Only these; all subscribed ones if nil.
  /// - Returns: False if there is no room at one of them: nothing was sent, and the delegate is called when there is
  ///   room again. Values for other centrals need not wait for that. A central that asked for indications has room for
  ///   eight that it has not confirmed.
  @discardableResult
  open func updateValue(
    _ value: Data, for characteristic: CBMutableCharacteristic, onSubscribedCentrals centrals: [CBCentral]?
  ) -> Bool {
    guard isUsable(for: "updateValue") else { return false }
    let identifiers = centrals.map { $0.map(\.identifier.uuidString) }
    guard shared.with({ $0.updates.begin(identifiers) }) else { return false }
    engine.update(value, characteristic, identifiers)
    return true
  }

  /// Listens for L2CAP channels under a number chosen by the daemon; the delegate receives the number, and later the
  /// channels opened by centrals.
  /// - Parameter encryptionRequired: True to require a paired central.
  open func publishL2CAPChannel(withEncryption encryptionRequired: Bool) {
    guard isUsable(for: "publishL2CAPChannel") else { return }
    engine.publishChannel(isEncrypted: encryptionRequired)
  }

  /// Ends listening for L2CAP channels. Open channels stay.
  open func unpublishL2CAPChannel(_ psm: CBL2CAPPSM) {
    guard isUsable(for: "unpublishL2CAPChannel") else { return }
    engine.unpublishChannel(psm)
  }
}
