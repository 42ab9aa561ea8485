import CoreBluetooth.CBUUID
import Testing

// Code as programs for Apple's systems have it; most of the test is that it compiles.

extension CBUUID: Comparable {
  /// Ordered by their string form.
  public static func < (left: CBUUID, right: CBUUID) -> Bool { left.uuidString < right.uuidString }
}

extension CBPeripheral: Identifiable {
  /// The identifier.
  public var id: UUID { identifier }
}

/// Another program's manager, which uses names that Dispatch has only on Apple's systems.
private final class ForeignManager: CBCentralManager {
  override init(delegate: (any CBCentralManagerDelegate)?, queue: dispatch_queue_t?, options: [String: Any]? = nil) {
    super.init(delegate: delegate, queue: queue, options: options)
  }

  override var state: CBManagerState { .poweredOn }
}

/// Another program's test double for a peripheral.
private class ForeignPeripheral: CBPeripheral {
  override func discoverServices(_ serviceUUIDs: [CBUUID]?) {}
  override func readValue(for characteristic: CBCharacteristic) {}
  override func writeValue(_ data: Data, for characteristic: CBCharacteristic, type: CBCharacteristicWriteType) {}
  override func setNotifyValue(_ enabled: Bool, for characteristic: CBCharacteristic) {}
}

struct ForeignCodeTests {
  @Test func conformancesOfOthers() {
    let uuids = [CBUUID(string: "2A38"), CBUUID(string: "180D")]
    #expect(uuids.sorted().map(\.uuidString) == ["180D", "2A38"])
  }

  @Test func objectsCanBeFormatted() {
    let service = CBMutableService(type: CBUUID(string: "180D"), primary: true)
    #expect(String(format: "%@ of %@, %d", service.uuid, service, 3) == "Heart Rate of \(service.description), 3")
  }

  @Test func subclasses() {
    let manager = ForeignManager(delegate: nil, queue: DispatchQueue(label: "test"))
    #expect((manager as CBManager).state == .poweredOn)
  }

  @Test func timeIsThere() {
    let span: CFTimeInterval = 5
    let units: [UInt64] = [NSEC_PER_SEC, NSEC_PER_MSEC, NSEC_PER_USEC, USEC_PER_SEC, MSEC_PER_SEC]
    #expect(units == [1_000_000_000, 1_000_000, 1000, 1_000_000, 1000])
    let time: CFAbsoluteTime = CFAbsoluteTimeGetCurrent()
    #expect(abs(time - Date().timeIntervalSinceReferenceDate) < span)
  }
}
