import Adapter
import Bluetooth
import GATT

/// All links of all adapters.
final class LinkRegistry {
  /// In the order in which they came up.
  private(set) var links: [LinkHub] = []
  let database: ServerDatabase
  /// The devices that get no link.
  let blocked: BlockedDevices
  /// The settings of new links from now on.
  var defaults = LinkDefaults()

  /// The serial number of the value that was last given to sessions.
  private var lastSerial = 0
  private let directory: PeripheralDirectory
  private let scheduler: any Scheduler

  init(directory: PeripheralDirectory, store: Store, scheduler: any Scheduler) {
    database = ServerDatabase(store: store)
    blocked = BlockedDevices(store: store)
    self.directory = directory
    self.scheduler = scheduler
  }

  /// Adds a link that an adapter announced, and begins its roles.
  func add(_ link: any Link, on slot: AdapterSlot, roles: LinkRoles) {
    let peripheral = directory.peripheral(at: link.peer, on: slot)
    guard !blocked.contains(peripheral) else { return link.disconnect() }
    peripheral.adapter = slot
    peripheral.wasMet = true
    peripheral.references += 1
    // The kernel reports a device that connects by its identity, with any of its addresses.
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

  /// The newest link of an adapter with a device.
  func link(with peripheral: Peripheral, on slot: AdapterSlot) -> LinkHub? {
    links.last { $0.peripheral == peripheral && $0.slot === slot }
  }

  /// The newest link with a device that has connected to us.
  func incoming(from peripheral: Peripheral) -> LinkHub? {
    links.last { $0.peripheral == peripheral && $0.link.role == .peripheral }
  }

  /// The serial number of the next value for sessions.
  func nextSerial() -> Int {
    lastSerial += 1
    return lastSerial
  }

  /// A service is there: bonded devices that had subscribed to it are again, when its program has been told where it
  /// is.
  func serviceAdded(_ range: ClosedRange<UInt16>) {
    guard !links.isEmpty else { return }
    scheduler.schedule(after: .zero) { [weak self] in
      for hub in self?.links ?? [] { hub.bond.serviceReturned(range) }
    }
  }

  /// Removes a link that has ended.
  func remove(_ hub: LinkHub) {
    links.removeAll { $0 === hub }
    hub.slot.linkCount -= 1
    hub.peripheral.references -= 1
    directory.released(hub.peripheral)
  }
}
