import Adapter
import Bluetooth
import GATT

/// All links of all adapters. What happens on one goes to the central broker, the peripheral broker, or both.
final class LinkRegistry {
  /// In the order in which they came up.
  private(set) var links: [DeviceLink] = []
  let database = ServerDatabase()
  /// Hears what happens on links. Set before the first one is there.
  var onEvent: (DeviceLink, DeviceLink.Event) -> Void = { _, _ in }

  private let directory: PeripheralDirectory
  private let scheduler: any Scheduler

  init(directory: PeripheralDirectory, scheduler: any Scheduler) {
    self.directory = directory
    self.scheduler = scheduler
  }

  /// Takes over a link that an adapter announced.
  func add(_ link: any Link, on slot: AdapterSlot) -> DeviceLink {
    let peripheral = directory.peripheral(at: link.peer, on: slot)
    peripheral.adapter = slot
    peripheral.holds += 1
    let device = DeviceLink(
      link: link, slot: slot, peripheral: peripheral, database: database, scheduler: scheduler
    ) { [unowned self] device, event in
      if case .ended = event {
        links.removeAll { $0 === device }
        slot.linkCount -= 1
        peripheral.holds -= 1
      }
      onEvent(device, event)
    }
    links.append(device)
    slot.linkCount += 1
    return device
  }
}
