/// The types of reports, with their numbers in a Report Reference (HIDS 1.0, 2.6.3.1).
package enum ReportType: UInt8, CaseIterable, Sendable {
  /// From the device.
  case input = 1
  /// To the device, such as the state of its lights.
  case output = 2
  /// Settings, both ways.
  case feature = 3
}

/// Names a report of a HID service.
package struct ReportKey: Hashable, Sendable {
  package let type: ReportType
  /// 1 to 255; 0 where the reports of this type have no numbers.
  package let id: UInt8

  package init(_ type: ReportType, _ id: UInt8) {
    self.type = type
    self.id = id
  }

  /// Reads the value of a Report Reference: the ID and the type.
  /// - Returns: nil unless it has two octets and a known type.
  init?(reference: [UInt8]) {
    guard reference.count == 2, let type = ReportType(rawValue: reference[1]) else { return nil }
    self.init(type, reference[0])
  }
}
