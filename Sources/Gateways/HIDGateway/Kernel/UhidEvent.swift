/// An event of the kernel about a device of /dev/uhid: `struct uhid_event` (linux/uhid.h), in the order of octets of
/// the machines that bled runs on, the lowest first.
package enum UhidEvent: Hashable, Sendable {
  /// A driver has accepted the device, and takes its reports.
  case start
  /// The driver is gone.
  case stop
  /// A program or the kernel's own console reads the device.
  case open
  /// The last reader has closed the device.
  case close
  /// An output report for the device, with its number where reports have numbers.
  case output(ReportType, [UInt8])
  /// The kernel waits for a report; `request` is returned with the reply.
  case getReport(request: UInt32, ReportKey)
  /// The kernel waits until a report is set.
  case setReport(request: UInt32, ReportKey, [UInt8])

  /// The length of an event in octets; shorter ones stand for zeros behind them.
  package static let length = 4376
  /// The longest report in octets (UHID_DATA_MAX).
  package static let longestReport = 4096

  /// Reads an event.
  /// - Returns: nil for another event than these.
  package init?(_ octets: [UInt8]) {
    let fields = UhidFields(octets)
    switch fields.number(at: 0, size: 4) {
    case 2: self = .start
    case 3: self = .stop
    case 4: self = .open
    case 5: self = .close
    case 6:
      guard let type = ReportType(kernel: fields.octet(at: 4102)) else { return nil }
      self = .output(type, fields.octets(at: 4, fields.number(at: 4100, size: 2)))
    case 9:
      guard let type = ReportType(kernel: fields.octet(at: 9)) else { return nil }
      self = .getReport(request: fields.number(at: 4, size: 4), ReportKey(type, fields.octet(at: 8)))
    case 13:
      guard let type = ReportType(kernel: fields.octet(at: 9)) else { return nil }
      self = .setReport(
        request: fields.number(at: 4, size: 4), ReportKey(type, fields.octet(at: 8)),
        fields.octets(at: 12, fields.number(at: 10, size: 2)))
    default: return nil
    }
  }
}

extension ReportType {
  /// A type by its number in the kernel (`enum uhid_report_type`).
  init?(kernel number: UInt8) {
    switch number {
    case 0: self = .feature
    case 1: self = .output
    case 2: self = .input
    default: return nil
    }
  }
}

/// The fields of an event; octets that are missing are zeros.
private struct UhidFields {
  private let all: [UInt8]

  init(_ octets: [UInt8]) { all = octets }

  func octet(at place: Int) -> UInt8 { place < all.count ? all[place] : 0 }

  func number(at place: Int, size: Int) -> UInt32 {
    (0..<size).reversed().reduce(0) { $0 << 8 | UInt32(octet(at: place + $1)) }
  }

  func octets(at place: Int, _ count: UInt32) -> [UInt8] {
    (0..<min(Int(count), UhidEvent.longestReport)).map { octet(at: place + $0) }
  }
}
