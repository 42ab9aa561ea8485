import BledRPC

/// The JSON of devices' present advertisements, for all scans. Devices whose numbers end alike share a place, which the
/// last one has.
struct ReportCache {
  private struct Entry {
    let device: Int
    let revision: Int
    var form: ScanReport.Form?
    var decoded: DecodedReport?
  }

  /// A power of two.
  private static let limit = 4096

  private var entries: [Entry?] = []

  /// The report without signal strength and time; nil if none is kept.
  func form(of device: Peripheral) -> ScanReport.Form? { self[device]?.form }

  mutating func keep(_ form: ScanReport.Form, of device: Peripheral) { update(device) { $0.form = form } }

  /// The decoded data; nil if no scan has requested it.
  func decoded(_ device: Peripheral) -> DecodedReport? { self[device]?.decoded }

  mutating func keep(_ decoded: DecodedReport, of device: Peripheral) { update(device) { $0.decoded = decoded } }

  private subscript(device: Peripheral) -> Entry? {
    let place = device.number & (Self.limit - 1)
    guard place < entries.count, let entry = entries[place], entry.device == device.number,
      entry.revision == device.reportRevision
    else { return nil }
    return entry
  }

  private mutating func update(_ device: Peripheral, _ change: (inout Entry) -> Void) {
    var entry = self[device] ?? Entry(device: device.number, revision: device.reportRevision)
    change(&entry)
    let place = device.number & (Self.limit - 1)
    if place >= entries.count { entries += Array(repeating: nil, count: place + 1 - entries.count) }
    entries[place] = entry
  }
}
