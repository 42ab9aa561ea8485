import BondedDevices

/// A device as the kernel is to show it: `struct uhid_create2_req`.
package struct UhidDescription: Hashable, Sendable {
  /// The name that programs see; the kernel keeps 127 octets.
  package var name: String
  /// The address of the adapter.
  package var location: String
  /// The address of the device.
  package var identity: String
  package var vendor: UInt16 = 0
  package var product: UInt16 = 0
  package var version: UInt16 = 0
  /// The layout of keys (HID 1.11, 6.2.1).
  package var country: UInt8 = 0
  /// At most `ReportMap.longest` octets.
  package var map: [UInt8]
}

/// A request to the kernel about a device of /dev/uhid.
package enum UhidRequest: Hashable, Sendable {
  case create(UhidDescription)
  case destroy
  /// An input report, with its number where reports have numbers.
  case input([UInt8])
  /// The answer to `UhidEvent.getReport`; nil: the report cannot be read.
  case report(request: UInt32, [UInt8]?)
  /// The answer to `UhidEvent.setReport`.
  case reportSet(request: UInt32, isDone: Bool)

  /// Bluetooth (BUS_BLUETOOTH of linux/input.h).
  private static let bus: UInt16 = 5
  /// The error for a device that does not answer (EIO).
  private static let failure: UInt16 = 5

  /// The request as the kernel reads it; zeros at its end are left out.
  package var octets: [UInt8] {
    switch self {
    case .create(let device): Self.creation(of: device)
    case .destroy: Self.number(1 as UInt32)
    case .input(let report): Self.number(12 as UInt32) + Self.sized(report)
    case .report(let request, let report):
      Self.number(10 as UInt32) + Self.number(request) + Self.number(report == nil ? Self.failure : 0)
        + Self.sized(report ?? [])
    case .reportSet(let request, let isDone):
      Self.number(14 as UInt32) + Self.number(request) + Self.number(isDone ? 0 : Self.failure)
    }
  }

  private static func creation(of device: UhidDescription) -> [UInt8] {
    let map = Array(device.map.prefix(ReportMap.longest))
    return number(11 as UInt32) + KernelText.octets(device.name, 128) + KernelText.octets(device.location, 64)
      + KernelText.octets(device.identity, 64)
      + number(UInt16(truncatingIfNeeded: map.count)) + number(bus) + number(UInt32(device.vendor))
      + number(UInt32(device.product)) + number(UInt32(device.version)) + number(UInt32(device.country)) + map
  }

  private static func number(_ value: some FixedWidthInteger) -> [UInt8] {
    withUnsafeBytes(of: value.littleEndian) { Array($0) }
  }

  private static func sized(_ report: [UInt8]) -> [UInt8] {
    let report = report.prefix(UhidEvent.longestReport)
    return number(UInt16(truncatingIfNeeded: report.count)) + report
  }
}
