import BledRPC
import Bluetooth
import FrameworkSupport

/// A scan requested by the program.
struct Scan: Sendable {
  /// Its number among the manager's scans.
  var number: Int
  /// Only devices advertising one of these; all if empty.
  var services: [BluetoothUUID]
  /// Also devices soliciting one of these.
  var solicited: [BluetoothUUID]
  var duplicates: Bool

  /// The parameters of `scan.start`.
  /// - Parameter adapter: The only adapter to scan on; nil: all.
  func params(on adapter: String?) -> ScanStart.Params {
    .init(
      adapter: adapter, services: services.isEmpty ? nil : services,
      solicitedServices: solicited.isEmpty ? nil : solicited,
      duplicates: duplicates)
  }

  /// The options in the program's request.
  var options: [String: Any] {
    var options: [String: Any] = [CBCentralManagerScanOptionAllowDuplicatesKey: NSNumber(value: duplicates)]
    if !solicited.isEmpty {
      options[CBCentralManagerScanOptionSolicitedServiceUUIDsKey] = solicited.map { CBUUID($0) }
    }
    return options
  }
}

/// A central manager's scan.
struct Scanning {
  /// The present scan.
  fileprivate var current: Scan?
  /// Reports queued for the program.
  fileprivate let waitingReports = Guarded(0)
}

extension CentralEngine {
  /// Maximum reports queued for the program; further reports are dropped, as on the air.
  private static let maximumWaitingReports = 512

  /// Starts a scan, or replaces it. Any thread.
  func scan(_ scan: Scan) {
    run { [self] in
      scanning.current = scan
      call(ScanStart.self, scan.params(on: adapter)) { [weak self] result in
        guard let error = result.failure, let self, scanning.current?.number == scan.number else { return }
        scanning.current = nil
        Misuse.logFailure("the scan could not be started: \(error)")
        deliver { manager in
          manager.shared.with { if $0.scan == scan.number { $0.isScanning = false } }
          manager.observers.changed()
        }
      }
    }
  }

  /// Ends the scan. Any thread.
  func stopScan() {
    run { [self] in
      scanning.current = nil
      call(ScanStop.self, .init())
    }
  }

  /// The scan kept by the daemon continues.
  func restoreScan(_ params: ScanStart.Params) -> Scan {
    let scan = Scan(
      number: 0, services: params.services ?? [], solicited: params.solicitedServices ?? [],
      duplicates: params.duplicates ?? false)
    scanning.current = scan
    return scan
  }

  /// The state is no longer poweredOn.
  func endScan() {
    if scanning.current != nil { call(ScanStop.self, .init()) }
    scanning.current = nil
  }

  func received(_ report: ScanReport.Params) {
    guard let scan = scanning.current, let identifier = UUID(uuidString: report.peripheral), !isOwn(report.address)
    else { return }
    let waitingReports = scanning.waitingReports
    let hasRoom = waitingReports.with {
      guard $0 < Self.maximumWaitingReports else { return false }
      $0 += 1
      return true
    }
    guard hasRoom else { return }
    let peripheral = peripheral(identifier)
    peripheral.shared[\.address] = report.address
    delivery { [self] in
      waitingReports.with { $0 -= 1 }
      guard let manager, manager.shared.with({ $0.isScanning && $0.scan == scan.number }) else { return }
      if let name = report.name, peripheral.adoptName(name, isRead: false) {
        peripheral.delegate?.peripheralDidUpdateName(peripheral)
      }
      manager.delegate?.centralManager(
        manager, didDiscover: peripheral, advertisementData: report.advertisementData,
        rssi: NSNumber(value: report.rssi ?? 127))
    }
  }
}

extension ScanReport.Params {
  /// The device's advertisement, under the keys and in the types of Apple's framework.
  var advertisementData: [String: Any] {
    var data: [String: Any] = [CBAdvertisementDataIsConnectable: NSNumber(value: connectable)]
    if let name { data[CBAdvertisementDataLocalNameKey] = name }
    if let txPower { data[CBAdvertisementDataTxPowerLevelKey] = NSNumber(value: txPower) }
    if let services { data[CBAdvertisementDataServiceUUIDsKey] = services.map { CBUUID($0) } }
    if let solicitedServices {
      data[CBAdvertisementDataSolicitedServiceUUIDsKey] = solicitedServices.map { CBUUID($0) }
    }
    if let manufacturerData { data[CBAdvertisementDataManufacturerDataKey] = Data(manufacturerData.octets) }
    if let serviceData {
      let pairs = serviceData.compactMap { text, value in
        BluetoothUUID(text).map { (CBUUID($0), Data(value.octets)) }
      }
      data[CBAdvertisementDataServiceDataKey] = Dictionary(pairs) { $1 }
    }
    return data
  }
}
