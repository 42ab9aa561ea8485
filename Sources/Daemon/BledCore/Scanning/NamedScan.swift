import Adapter
import BledRPC
import Bluetooth

/// The part of a scan that tells only which of the devices that it names are there.
final class NamedScan {
  /// The longest time that a controller can be given, in seconds.
  private static let longestWatch = 255

  /// Called with a change, the adapter that found its device, and the strength in dBm with which it was heard; returns
  /// whether it could be told.
  var onChange: (NamedPresence<Peripheral>.Change, AdapterSlot, _ rssi: Int?) -> Bool = { _, _, _ in true }
  private var presence: NamedPresence<Peripheral>
  /// The addresses on which controllers may watch, and for how many seconds; nil: there are more conditions than that.
  private let watch: (addresses: Set<UInt64>, seconds: Int)?
  /// Its place among all scans; a greater one makes a controller report anew which devices are there.
  var number: Int
  private let directory: PeripheralDirectory
  private let scheduler: any Scheduler
  private var alarm: (time: Instant, work: any ScheduledWork)?
  /// The devices that are kept in the directory, and the adapters that found them.
  private var kept: [Peripheral: AdapterSlot] = [:]

  /// - Parameter number: a greater one than that of any earlier scan.
  init(
    _ params: ScanStart.Params, filter: ScanFilter, gate: SignalGate, number: Int, directory: PeripheralDirectory,
    scheduler: any Scheduler
  ) throws {
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
      throw BledError.invalidParameter.error("a scan for presence sends no reports: leave out \"\(name)\"")
    }
    presence = NamedPresence(gate: gate, timeout: .seconds(timeout))
    let seconds = Int(timeout.rounded(.up))
    watch =
      params.rssi == nil && filter.isOnAddresses && seconds <= Self.longestWatch ? (addresses, max(1, seconds)) : nil
    self.number = number
    self.directory = directory
    self.scheduler = scheduler
  }

  deinit {
    alarm?.work.cancel()
    release(kept.keys)
  }

  /// The devices for which a controller can watch in its place; nil: it needs the reports.
  func watched(on slot: AdapterSlot) -> WatchedDevices? {
    guard let watch else { return nil }
    var timeouts: [DeviceAddress: Int] = [:]
    for value in watch.addresses {
      guard let addresses = directory.audible(value, on: slot) else { return nil }
      for address in addresses { timeouts[address] = watch.seconds }
    }
    return WatchedDevices(timeouts, number: number)
  }

  /// Whether the controller watches for the devices.
  var isWatching: Bool { presence.isWatching }

  /// A device that passes the filters was heard.
  /// - Parameter isListed: whether its address is one for which the controller watches, when it does.
  func heard(_ device: Peripheral, isListed: Bool, on slot: AdapterSlot) {
    if let change = presence.heard(device, rssi: device.rssi, isListed: isListed, at: scheduler.now) {
      tell(change, on: slot, device.rssi)
    }
    arm()
  }

  /// The controller says whether a device is there.
  func told(_ device: Peripheral, isThere: Bool, on slot: AdapterSlot) {
    if let change = presence.told(device, isThere: isThere, at: scheduler.now) {
      tell(change, on: slot)
    } else {
      keep()
    }
    arm()
  }

  /// The controller watches for the devices from now on, or no longer.
  func watching(_ isWatching: Bool) {
    presence.watching(isWatching, at: scheduler.now)
    arm()
  }

  /// Whether it keeps a device in the directory.
  func keeps(_ device: Peripheral) -> Bool { kept[device] != nil }

  /// A device is about to be forgotten: it is lost, and found as another one when it is heard again.
  func forget(_ device: Peripheral) {
    if let change = presence.forget(device) { tell(change) } else { keep() }
  }

  /// Nothing is heard for a while, so that nothing is lost either.
  func suspend() {
    presence.removeAll()
    keep()
  }

  private func tell(
    _ change: NamedPresence<Peripheral>.Change, on slot: AdapterSlot? = nil, _ rssi: Int? = nil
  ) {
    let slot = slot ?? kept[change.device] ?? change.device.adapter
    if change.isThere, kept.updateValue(slot, forKey: change.device) == nil { change.device.references += 1 }
    if !onChange(change, slot, rssi) { presence.failed(change, at: scheduler.now) }
    keep()
  }

  /// Keeps no more devices than there is something to be told of.
  private func keep() {
    let devices = Set(presence.devices)
    let gone = kept.keys.filter { !devices.contains($0) }
    for device in gone { kept[device] = nil }
    release(gone)
  }

  private func release(_ devices: some Sequence<Peripheral>) {
    for device in devices {
      device.references -= 1
      directory.released(device)
    }
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
