import BledClient
import Testing

private let belt = """
  { clock: "manual", devices: [{
      name: "Belt", address: "C0:DE:00:00:00:01", addressType: "random",
      services: [{ uuid: "180D", characteristics: [
        { uuid: "2A38", properties: ["read", "write"], value: "01" }] }] }] }
  """

/// A program for a heart-rate belt, tested on a simulated one.
struct BeltTests {
  private func connected() async throws -> (test: BledTest, peripheral: String) {
    let test = try #require(BledTest.current)
    let link = try await test.call(
      PeripheralConnect.self, .init(address: "C0:DE:00:00:00:01", addressType: "random"))
    return (test, link.peripheral)
  }

  @Test("a value is read, and another one after the belt has it", .bled(scenario: belt))
  func read() async throws {
    let (test, peripheral) = try await connected()
    let place = GATTRead.Params(peripheral: peripheral, attribute: .characteristic(0x2A38))
    #expect(try await test.call(GATTRead.self, place).value.octets == [1])
    try await test.call(
      SimulationSetValue.self, .init(device: "Belt", characteristic: 0x2A38, value: HexBytes([2])))
    #expect(try await test.call(GATTRead.self, place).value.octets == [2])
  }

  @Test("a write that the belt refuses is an error, and the next one arrives", .bled(scenario: belt))
  func write() async throws {
    let (test, peripheral) = try await connected()
    try await test.call(
      SimulationChange.self, .init(device: "Belt", members: "{ faults: { answers: [{ error: 128, count: 1 }] } }"))
    let write = GATTWrite.Params(peripheral: peripheral, attribute: .characteristic(0x2A38), value: HexBytes([3]))
    await #expect(throws: BluetoothError.self) { try await test.call(GATTWrite.self, write) }
    try await test.call(GATTWrite.self, write)
    let writes = try await test.call(SimulationWritten.self, .init(device: "Belt")).writes
    #expect(writes.map(\.value.octets) == [[3]])
  }
}
