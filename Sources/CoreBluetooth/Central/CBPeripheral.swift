import BledRPC
import Bluetooth

/// A device that a central manager found or knows. There is one object for each device and manager; it must be kept by the
/// program, and when the last reference to it goes, its connection and the wait for one go too.
open class CBPeripheral: CBPeer {
  struct Shared {
    weak var delegate: (any CBPeripheralDelegate)?
    var name: String?
    /// Whether `name` was read from the device: then what it advertises does not replace it.
    var isNameRead = false
    var rssi: NSNumber?
    var state = CBPeripheralState.disconnected
    var services: [CBService]?
    var attributes = AttributeTable()
    var mtu = 23
    var writes = UnansweredWrites()
  }

  let shared = Guarded(Shared())
  let observers = KeyValueObservers()
  let engine: CentralEngine
  /// Tells it from objects for the same device that are gone.
  let number: Int

  init(identifier: UUID, number: Int, engine: CentralEngine) {
    self.number = number
    self.engine = engine
    super.init(identifier: identifier)
  }

  deinit { engine.forget(identifier, number) }

  /// Who is told what happens; it is not kept.
  open weak var delegate: (any CBPeripheralDelegate)? {
    get { shared[\.delegate] }
    set { shared[\.delegate] = newValue }
  }

  /// Its name: that of its GAP service once the program has read it, before that the advertised one.
  open var name: String? { shared[\.name] }

  /// The answer to `readRSSI`, for programs that do not implement `didReadRSSI`.
  @available(*, deprecated)
  open var rssi: NSNumber? { shared[\.rssi] }

  /// How this manager is connected to it.
  open var state: CBPeripheralState { shared[\.state] }

  /// The services that were discovered, in order of their handles; nil before that. After a disconnect they are stale.
  open var services: [CBService]? { shared[\.services] }

  /// Whether there is room for a write without response.
  open var canSendWriteWithoutResponse: Bool {
    shared.with { $0.state == .connected && !$0.writes.isBlocked }
  }

  /// Apple's notification service: always false.
  open var ancsAuthorized: Bool { false }

  /// How many octets a write may have: 512 with response, MTU − 3 without.
  open func maximumWriteValueLength(for type: CBCharacteristicWriteType) -> Int {
    switch type {
    case .withResponse: 512
    case .withoutResponse: shared[\.mtu] - 3
    }
  }

  /// For people.
  open override var description: String {
    "<CBPeripheral: identifier = \(identifier), name = \(name ?? "(null)"), state = \(state)>"
  }

  /// Changes what observers may see.
  func change(_ body: (inout Shared) -> Void) {
    shared.with(body)
    observers.changed()
  }

  /// Takes a name over.
  /// - Returns: Whether another name was known before.
  func takeName(_ name: String, isRead: Bool) -> Bool {
    shared.with { shared in
      guard isRead || !shared.isNameRead else { return false }
      shared.isNameRead = shared.isNameRead || isRead
      defer { shared.name = name }
      return shared.name != nil && shared.name != name
    }
  }

  /// There is no connection any more: nothing is subscribed, nothing waits.
  func connectionEnded(nowConnecting: Bool) {
    let characteristics = shared.with { $0.attributes.characteristics.values }
    for characteristic in characteristics { characteristic.contents[\.isNotifying] = false }
    change {
      $0.state = nowConnecting ? .connecting : .disconnected
      $0.mtu = 23
      $0.writes = UnansweredWrites()
    }
  }
}
