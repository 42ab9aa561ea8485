import Bluetooth
import Testing

@testable import BlueZ

/// The data of devices, which may advertise any number of kinds.
struct NewestDataTests {
  @Test func theNewestAreKept() {
    var data = NewestData<Int>()
    for number in 0..<1000 { data.set([UInt8(number & 0xFF)], for: number) }
    #expect(data.values.keys.sorted() == Array(984..<1000))
    data.set([1], for: 984)
    data.set([2], for: 1000)
    #expect(data.values[984] == [1] && data.values[985] == nil)
  }

  @Test func theyAreBoundedInOctets() {
    var data = NewestData<Int>()
    for number in 0..<10 { data.set(Array(repeating: 0, count: 1000), for: number) }
    #expect(data.values.keys.sorted() == [7, 8, 9])
    data.set(Array(repeating: 0, count: 5000), for: 10)
    #expect(data.values[10]?.count == 5000)
  }

  @Test func theNewestServices() {
    var services = NewestServices()
    for number in 0..<100 { services.add(BluetoothUUID(UInt16(number))) }
    #expect(services.uuids == (36..<100).map { BluetoothUUID(UInt16($0)) })
    services.add(BluetoothUUID(36))
    #expect(services.uuids.last == BluetoothUUID(36) && services.uuids.count == NewestServices.maximum)
  }
}
