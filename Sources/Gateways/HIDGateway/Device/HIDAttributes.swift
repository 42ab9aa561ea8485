import BledRPC
import Bluetooth

/// The attributes of a HID service that the gateway uses (HIDS 1.0, 2).
struct HIDAttributes: Hashable {
  /// A Report characteristic, or one that the Report Map refers to.
  struct Report: Hashable {
    /// Its value.
    let handle: UInt16
    /// Its Report Reference; nil if it has none.
    let reference: UInt16?
    let properties: Set<CharacteristicProperty>
    /// The UUID of a characteristic of another service; nil for a Report.
    let external: BluetoothUUID?
  }

  /// The Report Map.
  let map: UInt16
  /// Its External Report References.
  let externalReferences: [UInt16]
  /// The HID Information; nil if there is none.
  let information: UInt16?
  /// The Protocol Mode; nil if the device has no boot reports.
  let protocolMode: UInt16?
  let reports: [Report]

  /// Finds the attributes in a service.
  /// - Returns: nil if it is not a HID service, or has no Report Map.
  init?(_ service: ServiceDescription) {
    let characteristics = service.characteristics ?? []
    guard service.uuid == .humanInterfaceDevice, let map = characteristics.first(where: { $0.uuid == .reportMap })
    else { return nil }
    self.map = map.handle
    externalReferences = map.descriptors?.filter { $0.uuid == .externalReportReference }.map(\.handle) ?? []
    information = characteristics.first { $0.uuid == .hidInformation }?.handle
    protocolMode = characteristics.first { $0.uuid == .protocolMode }?.handle
    reports = characteristics.filter { $0.uuid == .report }.map { Report($0, external: nil) }
  }

  /// The attributes to read before the service can be used.
  var toRead: [UInt16] {
    [map] + externalReferences + [information, protocolMode].compactMap { $0 } + reports.compactMap(\.reference)
  }
}

extension HIDAttributes.Report {
  init(_ characteristic: CharacteristicDescription, external: BluetoothUUID?) {
    self.init(
      handle: characteristic.handle,
      reference: characteristic.descriptors?.first { $0.uuid == .reportReference }?.handle,
      properties: Set(characteristic.properties.compactMap(\.known)), external: external)
  }
}

extension BluetoothUUID {
  static let humanInterfaceDevice = BluetoothUUID(0x1812)
  static let hidInformation = BluetoothUUID(0x2A4A)
  static let reportMap = BluetoothUUID(0x2A4B)
  static let report = BluetoothUUID(0x2A4D)
  static let protocolMode = BluetoothUUID(0x2A4E)
  static let reportReference = BluetoothUUID(0x2908)
  static let externalReportReference = BluetoothUUID(0x2907)
  static let deviceName = BluetoothUUID(0x2A00)
  static let pnpID = BluetoothUUID(0x2A50)
}
