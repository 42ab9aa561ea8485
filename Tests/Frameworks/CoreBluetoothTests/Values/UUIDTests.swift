import CoreBluetooth
import Testing

struct UUIDTests {
  @Test func shortestForms() {
    #expect(CBUUID(string: "180d").uuidString == "180D")
    #expect(CBUUID(string: "180D").data == Data([0x18, 0x0D]))
    #expect(CBUUID(string: "12345678").uuidString == "12345678")
    #expect(CBUUID(string: "12345678").data == Data([0x12, 0x34, 0x56, 0x78]))
    let long = "B1ED0001-5EED-4B1E-8D00-000000000000"
    #expect(CBUUID(string: long.lowercased()).uuidString == long)
    #expect(CBUUID(string: long).data.count == 16)
    #expect(CBUUID(string: "0000180D-0000-1000-8000-00805F9B34FB").uuidString == "180D")
    for text in ["180D", "12345678", long] { #expect(CBUUID(string: "0x" + text).uuidString == text) }
  }

  @Test func equalityIsByValue() throws {
    let short = CBUUID(string: "180D")
    let long = CBUUID(string: "0000180D-0000-1000-8000-00805F9B34FB")
    #expect(short == long)
    #expect(short.hash == long.hash)
    #expect(Set([short, long, CBUUID(data: Data([0x18, 0x0D]))]).count == 1)
    #expect(short != CBUUID(string: "180F"))
    #expect(short.isEqual(long))
    #expect(!short.isEqual("180D"))
    #expect(try #require(short.copy() as? CBUUID) == short)
    let table: [CBUUID: Int] = [short: 1]
    #expect(table[long] == 1)
  }

  @Test func foundationUUIDs() throws {
    let uuid = try #require(UUID(uuidString: "B1ED0001-5EED-4B1E-8D00-000000000000"))
    #expect(CBUUID(nsuuid: uuid).uuidString == uuid.uuidString)
    #expect(CBUUID(NSUUID: uuid) == CBUUID(data: withUnsafeBytes(of: uuid.uuid) { Data($0) }))
  }

  @Test func aPlaceholder() {
    #expect(CBUUID() == CBUUID())
    #expect(CBUUID().uuidString == "00000000-0000-0000-0000-000000000000")
  }

  @Test func names() {
    #expect("\(CBUUID(string: "180D"))" == "Heart Rate")
    #expect(CBUUID(string: "FFF0").description == "FFF0")
    #expect(CBUUID(string: CBUUIDClientCharacteristicConfigurationString).uuidString == "2902")
  }

  @Test func anInvalidUUIDEndsTheProgram() async {
    await #expect(processExitsWith: .failure) { _ = CBUUID(string: "18") }
    await #expect(processExitsWith: .failure) { _ = CBUUID(data: Data([1, 2, 3])) }
  }
}
