import CoreBluetooth.CBUUID
import Testing

// What programs do with the module on Apple's systems; that it compiles is most of the test.

extension CBUUID: Comparable {
  /// In the order of their texts.
  public static func < (left: CBUUID, right: CBUUID) -> Bool { left.uuidString < right.uuidString }
}

extension CBPeripheral: Identifiable {
  /// The identifier.
  public var id: UUID { identifier }
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

  @Test func timeIsThere() {
    let time: CFAbsoluteTime = CFAbsoluteTimeGetCurrent()
    #expect(abs(time - Date().timeIntervalSinceReferenceDate) < 5)
  }
}
