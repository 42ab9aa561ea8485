import Adapter
import Bluetooth
import HCI
import Testing

@testable import Radio

/// Handling of the controller's advertising reports (Core 5.4, Vol 4, Part E, 7.7.65.2 and 7.7.65.13).
@Suite struct ReportAssemblerTests {
  private let device = DeviceAddress(value: 0xF0F1_F2F3_F4F5, kind: .random)

  @Test func legacyReports() throws {
    var script = RadioScript<LegacyFamily>()
    script.now = Instant(nanoseconds: 7)
    try script.hear("3e 19 02 02 00 01 f5f4f3f2f1f0 03 020106 c4 04 00 010203040506 00 7f")
    script.expectHeard(
      AdvertisingReport(
        address: device, primaryPHY: .le1M, rssi: -60, data: [2, 1, 6], time: Instant(nanoseconds: 7)),
      AdvertisingReport(
        address: DeviceAddress(value: 0x0605_0403_0201, kind: .public), isScanResponse: true, isConnectable: false,
        isScannable: false, primaryPHY: .le1M, rssi: nil, data: [], time: Instant(nanoseconds: 7)))
    try script.hear("3e 0c 02 01 01 01 f5f4f3f2f1f0 00 c4")
    script.expectHeard(
      AdvertisingReport(
        address: device, isScannable: false, isDirected: true, primaryPHY: .le1M, rssi: -60, data: [],
        time: Instant(nanoseconds: 7)))
  }

  @Test("An extended report with nothing in it makes no device (radio F8)")
  func emptyReport() throws {
    var script = RadioScript<ExtendedFamily>()
    try script.hear("3e 1a 0d 01 0000 00 000000000000 00 00 ff 7f 00 0000 00 000000000000 00")
    script.expectHeard()
  }

  @Test func extendedReportsTellHowTheyWereSent() throws {
    var script = RadioScript<ExtendedFamily>()
    // Connectable and directed, set 9, Coded, then 2M, -7 dBm.
    try script.hear("3e 1d 0d 01 0500 01 f5f4f3f2f1f0 03 02 09 f9 c4 0000 00 000000000000 03 020106")
    // A legacy PDU: no set, no second PHY, no power.
    try script.hear("3e 1d 0d 01 1300 01 f5f4f3f2f1f0 01 00 ff 7f c4 0000 00 000000000000 03 020106")
    script.expectHeard(
      AdvertisingReport(
        address: device, isScannable: false, isDirected: true, primaryPHY: .leCoded, secondaryPHY: .le2M, sid: 9,
        txPower: -7, rssi: -60, data: [2, 1, 6], time: .zero),
      AdvertisingReport(address: device, primaryPHY: .le1M, rssi: -60, data: [2, 1, 6], time: .zero))
  }

  @Test("an anonymous advertisement has no address; what has an unknown kind of address is left out")
  func anonymous() throws {
    var script = RadioScript<ExtendedFamily>()
    let anonymous = "ff 000000000000 01 01 03 7f c4 0000 00 000000000000"
    try script.hear("3e 1d 0d 01 2000 \(anonymous) 03 020106")
    try script.hear("3e 1c 0d 01 0000 \(anonymous) 02 0aff")
    script.expectHeard(
      AdvertisingReport(
        address: nil, isConnectable: false, isScannable: false, primaryPHY: .le1M, secondaryPHY: .le1M, sid: 3,
        rssi: -60, data: [2, 1, 6, 0x0A, 0xFF], time: .zero))
    try script.hear("3e 1d 0d 01 0000 07 000000000000 01 01 03 7f c4 0000 00 000000000000 03 020106")
    script.expectHeard()
  }

  @Test func fragmentsOfAnExtendedAdvertisementArePutTogether() throws {
    var script = RadioScript<ExtendedFamily>()
    let head = "f5f4f3f2f1f0 01 01 03 7f c4 0000 00 000000000000"
    try script.hear("3e 1d 0d 01 2100 01 \(head) 03 020106")
    script.expectHeard()
    try script.hear("3e 1c 0d 01 0100 01 \(head) 02 0aff")
    script.expectHeard(report(isTruncated: false))
  }

  @Test func truncatedAdvertisementsAreDeliveredAndFlagged() throws {
    var script = RadioScript<ExtendedFamily>()
    let head = "f5f4f3f2f1f0 01 01 03 7f c4 0000 00 000000000000"
    try script.hear("3e 1d 0d 01 2100 01 \(head) 03 020106")
    try script.hear("3e 1c 0d 01 4100 01 \(head) 02 0aff")
    script.expectHeard(report(isTruncated: true))
  }

  @Test("a packet that does not end where it says is refused", arguments: ["3e 0d", "3e 0b"])
  func lengths(_ head: String) throws {
    var script = RadioScript<LegacyFamily>()
    #expect(throws: HCICodingError.self) { try script.hear("\(head) 02 01 01 01 f5f4f3f2f1f0 00 c4") }
    script.expectHeard()
  }

  private func report(isTruncated: Bool) -> AdvertisingReport {
    AdvertisingReport(
      address: device, isScannable: false, primaryPHY: .le1M, secondaryPHY: .le1M, sid: 3, rssi: -60,
      data: [2, 1, 6, 0x0A, 0xFF], isTruncated: isTruncated, time: .zero)
  }
}
