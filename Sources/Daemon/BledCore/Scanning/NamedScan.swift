import Adapter
import BledRPC
import Bluetooth

/// The part of a scan that reports only the presence of named devices.
final class NamedScan {
  /// Maximum timeout for a controller, in seconds.
  private static let longestWatch = 255

  /// Called with a change, the adapter that found its device, and the received strength in dBm; returns true if the
  /// report had room.
  var onChange: (NamedPresence<Peripheral>.Change, AdapterSlot, _ rssi: Int?) -> Bool = { _, _, _ in true }
  private var presence: NamedPresence<Peripheral>
  /// The addresses for controllers to watch, and the timeout in seconds; nil: there are further conditions.
  private let watch: (addresses: Set<UInt64>, seconds: Int)?
  /// Its place among all scans; a greater one makes a controller report presence anew.
  var number: Int
  private let directory: PeripheralDirectory
  private let scheduler: any Scheduler
  private var alarm: (time: Instant, work: any ScheduledWork)?
  /// The devices kept in the directory, and the adapters that found them.
  private var kept: [Peripheral: AdapterSlot] = [:]

  /// - Parameter number: greater than in any earlier scan.
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

  /// The devices for a controller to watch in its place; nil: it needs the reports.
  func watched(on slot: AdapterSlot) -> WatchedDevices? {
    guard let watch else { return nil }
    var timeouts: [DeviceAddress: Int] = [:]
    for value in watch.addresses {
      guard let addresses = directory.audible(value, on: slot) else { return nil }
      for address in addresses { timeouts[address] = watch.seconds }
    }
    return WatchedDevices(timeouts, number: number)
  }

  var isWatching: Bool { presence.isWatching }

  /// An advertisement that passes the filters was received.
  /// - Parameter isListed: true if the controller, when it watches, watches its address.
  func received(_ device: Peripheral, isListed: Bool, on slot: AdapterSlot) {
    if let change = presence.received(device, rssi: device.rssi, isListed: isListed, at: scheduler.now) {
      report(change, on: slot, device.rssi)
    }
    arm()
  }

  /// The controller reported a device found or lost.
  func monitorReported(_ device: Peripheral, isThere: Bool, on slot: AdapterSlot) {
    if let change = presence.monitorReported(device, isThere: isThere, at: scheduler.now) {
      report(change, on: slot)
    } else {
      keep()
    }
    arm()
  }

  /// The controller watches for the devices from now on, or no longer.
  func monitorChanged(_ isWatching: Bool) {
    presence.monitorChanged(isWatching, at: scheduler.now)
    arm()
  }

  /// True if it keeps the device in the directory.
  func keeps(_ device: Peripheral) -> Bool { kept[device] != nil }

  /// A device is about to be forgotten: it is lost, and found as another one when it is received again.
  func forget(_ device: Peripheral) {
    if let change = presence.forget(device) { report(change) } else { keep() }
  }

  /// Reception is suspended, so nothing is lost either.
  func suspend() {
    presence.removeAll()
    keep()
  }

  private func report(
    _ change: NamedPresence<Peripheral>.Change, on slot: AdapterSlot? = nil, _ rssi: Int? = nil
  ) {
    let slot = slot ?? kept[change.device] ?? change.device.adapter
    if change.isThere, kept.updateValue(slot, forKey: change.device) == nil { change.device.references += 1 }
    if !onChange(change, slot, rssi) { presence.failed(change, at: scheduler.now) }
    keep()
  }

  /// Keeps only devices whose changes are still to be reported.
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
      for change in presence.tick(at: scheduler.now) { report(change) }
      arm()
    }
    alarm = (deadline, work)
  }
}
