import Adapter
import Bluetooth
import Testing

@testable import BledCore

/// The kept reports of devices.
struct ReportCacheTests {
  private let slot = AdapterSlot(ScriptedAdapter(scheduler: VirtualScheduler()))

  private func device(_ number: Int) -> BledCore.Peripheral {
    Peripheral(
      id: "\(number)", number: number, address: DeviceAddress(value: UInt64(number), kind: .public), adapter: slot,
      now: .zero)
  }

  private func hear(_ device: BledCore.Peripheral, _ data: [UInt8], rssi: Int = -50) {
    device.received(AdvertisingReport(address: device.address, rssi: rssi, data: data, time: .zero), on: slot, in: 1)
  }

  @Test("a report is kept until the device sends another one, whatever its strength")
  func revision() {
    let device = device(1)
    var cache = ReportCache()
    hear(device, [2, 1, 6])
    #expect(cache.decoded(device) == nil)
    cache.keep(DecodedReport(device), of: device)
    hear(device, [2, 1, 6], rssi: -60)
    #expect(cache.decoded(device) != nil && cache.form(of: device) == nil)
    hear(device, [2, 1, 4])
    #expect(cache.decoded(device) == nil)
  }

  @Test("devices whose numbers end alike share a place, which the last one has; others are kept beside it")
  func places() {
    let devices = [1, 2, 1 + 4096].map(device)
    var cache = ReportCache()
    for device in devices.prefix(2) { cache.keep(DecodedReport(device), of: device) }
    #expect(devices.map { cache.decoded($0) != nil } == [true, true, false])
    cache.keep(DecodedReport(devices[2]), of: devices[2])
    #expect(devices.map { cache.decoded($0) != nil } == [false, true, true])
  }
}
