import Benchmark
import Bluetooth

/// The cost of a scan report: 31 octets read and asked for what reports hold; and of building such data.
func advertisingBenchmarks() {
  let content = AdvertisingContent(
    name: "Heart rate belt", serviceUUIDs: [0x180D, 0x180F],
    manufacturerData: .init(company: 0xFFFF, data: [1, 2, 3, 4]))
  measure("advertising data: read", { try content.packed(capacity: 62).data }) { octets in
    blackHole(AdvertisingData(parsing: octets))
  }
  measure("advertising data: name, services", { AdvertisingData(parsing: try content.packed(capacity: 62).data) }) {
    data in
    blackHole(data.localName)
    blackHole(data.serviceUUIDs)
    blackHole(data.manufacturerData)
  }
  measure("advertising data: pack", { content }) { content in blackHole(try content.packed()) }
}
