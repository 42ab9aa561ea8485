import Adapter
import Bluetooth
import FoundationEssentials

/// The devices that the daemon knows, by identifier and by address; those not used for longest are forgotten at the bound.
final class PeripheralDirectory {
  /// How many devices are remembered.
  var capacity: Int
  /// How many devices were forgotten to make room.
  private(set) var forgotten = 0

  private var byAddress: [DeviceAddress: Peripheral] = [:]
  private var byID: [String: Peripheral] = [:]
  private var lastNumber = 0
  private let scheduler: any Scheduler
  private let makeIdentifier: (DeviceAddress) -> String

  /// - Parameter makeIdentifier: gives the identifier of a device that is not in memory.
  init(
    scheduler: any Scheduler, capacity: Int = 4096,
    makeIdentifier: @escaping (DeviceAddress) -> String = { _ in UUID().uuidString }
  ) {
    self.scheduler = scheduler
    self.capacity = max(1, capacity)
    self.makeIdentifier = makeIdentifier
  }

  /// The device of this address, remembered from now on.
  func peripheral(at address: DeviceAddress, on adapter: AdapterSlot) -> Peripheral {
    if let known = byAddress[address] {
      known.lastUse = scheduler.now
      return known
    }
    if byAddress.count >= capacity { forgetOldest() }
    lastNumber += 1
    let new = Peripheral(
      id: makeIdentifier(address), number: lastNumber, address: address, adapter: adapter, now: scheduler.now)
    byAddress[address] = new
    byID[new.id] = new
    return new
  }

  /// Takes over what an adapter received.
  func heard(_ report: AdvertisingReport, on adapter: AdapterSlot) -> Peripheral {
    let peripheral = peripheral(at: report.address, on: adapter)
    peripheral.adapter = adapter
    peripheral.rssi = report.rssi
    if !report.isScanResponse { peripheral.isConnectable = report.isConnectable }
    peripheral.heard(report.data, isScanResponse: report.isScanResponse)
    return peripheral
  }

  /// The device of this identifier.
  func find(_ id: String) throws -> Peripheral {
    guard let found = byID[id] ?? byID[id.uppercased()] else {
      throw GAPError.unknownDevice.error(
        "no device \"\(id.prefix(64))\" is known: scan for it, or connect by its address")
    }
    found.lastUse = scheduler.now
    return found
  }

  /// The device last heard of those with this address, whatever its type.
  func find(address text: String) -> Peripheral? {
    DeviceAddress.Kind.allCases
      .compactMap { kind in DeviceAddress(text, kind: kind).flatMap { byAddress[$0] } }
      .max { $0.lastUse < $1.lastUse }
  }

  /// All devices, the last heard first.
  var all: [Peripheral] {
    byAddress.values.sorted { ($0.lastUse, $0.number) > ($1.lastUse, $1.number) }
  }

  /// Forgets an eighth of the devices at once, so that the search for the oldest is paid rarely.
  private func forgetOldest() {
    let candidates = byAddress.values.filter { $0.holds == 0 }
      .sorted { ($0.lastUse, $0.number) < ($1.lastUse, $1.number) }
    for peripheral in candidates.prefix(max(1, capacity / 8)) {
      byAddress[peripheral.address] = nil
      byID[peripheral.id] = nil
      forgotten += 1
    }
  }
}
