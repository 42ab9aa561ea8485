import Adapter
import Bluetooth
import GATT

/// All adapters' links.
final class LinkRegistry {
  /// Oldest first.
  private(set) var links: [LinkHub] = []
  let database: ServerDatabase
  /// The devices refused a link.
  let blocked: BlockedDevices
  /// The settings of new links from now on.
  var defaults = LinkDefaults()

  /// The last value's serial number.
  private var lastSerial = 0
  private let directory: PeripheralDirectory
  private let scheduler: any Scheduler

  init(directory: PeripheralDirectory, store: Store, scheduler: any Scheduler) {
    database = ServerDatabase(store: store)
    blocked = BlockedDevices(store: store)
    self.directory = directory
    self.scheduler = scheduler
  }

  /// Adds a link announced by an adapter, and begins its roles.
  func add(_ link: any Link, on slot: AdapterSlot, roles: LinkRoles) {
    let peripheral = directory.peripheral(at: link.peer, on: slot)
    guard !blocked.contains(peripheral) else { return link.disconnect() }
    peripheral.adapter = slot
    peripheral.wasMet = true
    peripheral.references += 1
    // The kernel reports a connecting device by its identity, with any of its addresses.
    if link.role == .central { _ = directory.reached(peripheral, at: link.peer) }
    slot.linkCount += 1
    let hub = LinkHub(
      link, on: slot, to: peripheral, in: self, scheduler: scheduler, roles: roles)
    links.append(hub)
    // The link may be encrypted already.
    hub.bondChanged()
    hub.server.began()
    hub.central.began()
  }

  /// The adapter's newest link with a device.
  func link(with peripheral: Peripheral, on slot: AdapterSlot) -> LinkHub? {
    links.last { $0.peripheral == peripheral && $0.slot === slot }
  }

  /// The newest link with a device that has connected to us.
  func incoming(from peripheral: Peripheral) -> LinkHub? {
    links.last { $0.peripheral == peripheral && $0.link.role == .peripheral }
  }

  /// The next value's serial number.
  func nextSerial() -> Int {
    lastSerial += 1
    return lastSerial
  }

  /// A service was added: bonded devices subscribed to it are subscribed again, after its program has learned its
  /// handles.
  func serviceAdded(_ range: ClosedRange<UInt16>) {
    guard !links.isEmpty else { return }
    scheduler.schedule(after: .zero) { [weak self] in
      for hub in self?.links ?? [] { hub.bond.serviceReturned(range) }
    }
  }

  /// Removes an ended link.
  func remove(_ hub: LinkHub) {
    links.removeAll { $0 === hub }
    hub.slot.linkCount -= 1
    hub.peripheral.references -= 1
    directory.released(hub.peripheral)
  }
}
