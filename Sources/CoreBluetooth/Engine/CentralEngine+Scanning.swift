import BledRPC
import Bluetooth

extension CentralEngine {
  /// How many reports may wait for the program's queue; what comes beyond is dropped, as on the air.
  private static let maximumWaitingReports = 512

  /// Starts a scan, or replaces it. Any thread.
  func scan(_ wish: ScanWish) {
    run { [self] in
      scanWish = wish
      call(ScanStart.self, wish.params) { [weak self] result in
        guard let error = result.failure, let self, scanWish?.number == wish.number else { return }
        scanWish = nil
        Misuse.note("the scan could not be started: \(error)")
        deliver { manager in
          manager.shared.with { if $0.scan == wish.number { $0.isScanning = false } }
          manager.observers.changed()
        }
      }
    }
  }

  /// Ends the scan. Any thread.
  func stopScan() {
    run { [self] in
      scanWish = nil
      call(ScanStop.self, .init())
    }
  }

  func heard(_ report: ScanReport.Params) {
    guard let wish = scanWish, let identifier = UUID(uuidString: report.peripheral) else { return }
    let hasRoom = waitingReports.with {
      guard $0 < Self.maximumWaitingReports else { return false }
      $0 += 1
      return true
    }
    guard hasRoom else { return }
    let peripheral = peripheral(identifier)
    delivery { [self] in
      waitingReports.with { $0 -= 1 }
      guard let manager, manager.shared.with({ $0.isScanning && $0.scan == wish.number }) else { return }
      if let name = report.name, peripheral.takeName(name, isRead: false) {
        peripheral.delegate?.peripheralDidUpdateName(peripheral)
      }
      manager.delegate?.centralManager(
        manager, didDiscover: peripheral, advertisementData: report.advertisementData,
        rssi: NSNumber(value: report.rssi ?? 127))
    }
  }
}
