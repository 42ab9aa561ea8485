import Adapter
import BledRPC
import Bluetooth

/// The part of a scan that tells only which of the devices that it names are there.
final class NamedScan {
  /// The longest time that a controller can be given, in seconds.
  private static let longestWatch = 255

  /// Called with a change and the strength in dBm with which its device was heard; returns whether it could be told.
  var onChange: (NamedPresence<Peripheral>.Change, _ rssi: Int?) -> Bool = { _, _ in true }
  private var presence: NamedPresence<Peripheral>
  /// The addresses on which controllers may watch, and for how many seconds; nil: there are more conditions than that.
  private let watch: (addresses: Set<UInt64>, seconds: Int)?
  /// Its place among all scans.
  private let number: Int
  private let scheduler: any Scheduler
  private var alarm: (time: Instant, work: any ScheduledWork)?
  /// The devices that are kept in the directory.
  private var kept: Set<Peripheral> = []

  /// - Parameter number: a greater one than that of any earlier scan.
  init(_ params: ScanStart.Params, filter: ScanFilter, gate: SignalGate, number: Int, scheduler: any Scheduler) throws {
    guard let timeout = params.lost, let addresses = filter.addresses else {
      throw BledError.invalidParameter.error(
        """
        "presence" requires "addresses" and "lost": the devices, and the seconds without a packet after which one is \
        lost
        """)
    }
    for (name, isWanted) in [
      ("duplicates", params.duplicates), ("anonymous", params.anonymous), ("decode", params.decode),
    ] where isWanted == true {
      throw BledError.invalidParameter.error("with \"presence\" there are no reports that \"\(name)\" could be for")
    }
    presence = NamedPresence(gate: gate, timeout: .seconds(timeout))
    let seconds = Int(timeout.rounded(.up))
    watch =
      params.rssi == nil && filter.isOnAddresses && seconds <= Self.longestWatch ? (addresses, max(1, seconds)) : nil
    self.number = number
    self.scheduler = scheduler
  }

  deinit {
    alarm?.work.cancel()
    for device in kept { device.references -= 1 }
  }

  /// The devices for which a controller can watch in its place; nil: it needs the reports.
  func watched(on slot: AdapterSlot, in directory: PeripheralDirectory) -> WatchedDevices? {
    guard let watch else { return nil }
    var timeouts: [DeviceAddress: Int] = [:]
    for value in watch.addresses {
      guard let addresses = directory.audible(value, on: slot) else { return nil }
      for address in addresses { timeouts[address] = watch.seconds }
    }
    return WatchedDevices(timeouts, number: number)
  }

  /// A device that passes the filters was heard.
  func heard(_ device: Peripheral) {
    if let change = presence.heard(device, rssi: device.rssi, at: scheduler.now) { tell(change, device.rssi) }
    arm()
  }

  /// The controller says whether a device is there.
  func told(_ device: Peripheral, isThere: Bool) {
    if let change = presence.told(device, isThere: isThere, at: scheduler.now) { tell(change) }
    arm()
  }

  /// The controller watches for the devices from now on, or no longer.
  func watching(_ isWatching: Bool) {
    presence.watching(isWatching, at: scheduler.now)
    arm()
  }

  /// Nothing is heard for a while, so that nothing is lost either.
  func suspend() {
    presence.removeAll()
    keep()
  }

  private func tell(_ change: NamedPresence<Peripheral>.Change, _ rssi: Int? = nil) {
    if !onChange(change, rssi) { presence.failed(change, at: scheduler.now) }
    keep()
  }

  private func keep() {
    let devices = Set(presence.devices)
    for device in devices.subtracting(kept) { device.references += 1 }
    for device in kept.subtracting(devices) { device.references -= 1 }
    kept = devices
  }

  private func arm() {
    guard let deadline = presence.deadline, alarm.map({ deadline < $0.time }) ?? true else { return }
    alarm?.work.cancel()
    let work = scheduler.schedule(at: deadline) { [weak self] in
      guard let self else { return }
      alarm = nil
      for change in presence.tick(at: scheduler.now) { tell(change) }
      arm()
    }
    alarm = (deadline, work)
  }
}
