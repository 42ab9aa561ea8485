import BledRPC
import Bluetooth

/// A HID service with the values that were read.
struct HIDService: Hashable {
  /// A report and the characteristic that carries it.
  struct Report: Hashable {
    let key: ReportKey
    let handle: UInt16
    let properties: Set<CharacteristicProperty>
  }

  let map: ReportMap
  /// The layout of keys; 0 if the device names no country.
  let country: UInt8
  let reports: [Report]
  /// How many reports of the device have no place in the map.
  let unusable: Int

  /// Whether reports of a type have numbers; the references decide for a map with a fault.
  func isNumbered(_ type: ReportType) -> Bool {
    map.fault == nil ? map.isNumbered(type) : reports.contains { $0.key.type == type && $0.key.id != 0 }
  }

  func report(_ key: ReportKey) -> Report? { reports.first { $0.key == key } }

  /// The characteristics to subscribe to.
  var notifying: [UInt16] {
    reports.filter { $0.key.type == .input && $0.properties.contains(.notify) }.map(\.handle)
  }
}

extension HIDService {
  /// Puts a service together.
  /// - Parameters:
  ///   - others: the characteristics that the Report Map may refer to.
  ///   - values: the values that the device has given, by their handles.
  init(
    _ attributes: HIDAttributes, external others: [HIDAttributes.Report], _ values: [UInt16: [UInt8]]
  ) throws(ReportMap.Fault) {
    guard let octets = values[attributes.map] else {
      throw ReportMap.Fault(description: "the report map cannot be read whole")
    }
    let map = try ReportMap(octets)
    let references = Set(
      attributes.externalReferences.compactMap { values[$0].flatMap { BluetoothUUID(littleEndian: $0) } })
    let offered = attributes.reports + others.filter { $0.external.map { references.contains($0) } ?? false }
    var taken: Set<ReportKey> = []
    let reports: [Report] = offered.compactMap { report in
      guard let key = Self.key(of: report, map, values), taken.insert(key).inserted,
        map.fault != nil || map.length(of: key) != nil
      else { return nil }
      return Report(key: key, handle: report.handle, properties: report.properties)
    }
    guard !reports.isEmpty else { throw ReportMap.Fault(description: "no report of the device is in its report map") }
    // bcdHID, bCountryCode, Flags (HIDS 1.0, 2.8.1).
    let country = attributes.information.flatMap { values[$0]?.dropFirst(2).first } ?? 0
    self.init(map: map, country: country, reports: reports, unusable: offered.count - reports.count)
  }

  /// The report by its reference. Without one its properties show the type, where the type has no numbers (2.5.1).
  private static func key(
    of report: HIDAttributes.Report, _ map: ReportMap, _ values: [UInt16: [UInt8]]
  ) -> ReportKey? {
    if let reference = report.reference, let octets = values[reference] {
      // Some devices number the reports of a map without numbers.
      guard let key = ReportKey(reference: octets) else { return nil }
      return map.fault != nil || map.isNumbered(key.type) ? key : ReportKey(key.type, 0)
    }
    guard report.external == nil else { return nil }
    let type: ReportType =
      if report.properties.contains(.notify) {
        .input
      } else if report.properties.contains(.writeWithoutResponse) { .output } else { .feature }
    return map.isNumbered(type) ? nil : ReportKey(type, 0)
  }
}
