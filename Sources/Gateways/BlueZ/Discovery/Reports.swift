import BledRPC
import Bluetooth

/// The properties of devices from their advertisements.
///
/// A PropertiesChanged with RSSI stands for an advertisement. It is sent for the first report of a discovery, if data
/// changed, if the signal strength changed by 8 dB, and once a second; a program that requested duplicates receives one
/// for each report, alone.
final class Reports {
  /// The change of the signal strength that counts, in dB, as at bluetoothd.
  private static let rssiStep = 8
  /// The pause between two advertisements of a device without another reason to report.
  private static let pause = Duration.seconds(1)

  private let context: Context
  private let devices: Devices
  /// Called with the device of each report, once.
  var heard: (Device) -> Void = { _ in }

  init(_ context: Context, _ devices: Devices) {
    self.context = context
    self.devices = devices
  }

  /// A program's discovery has received a device.
  /// - Parameter duplicates: the name of the program if it requested each advertisement.
  func report(_ report: ScanReport.Params, duplicates client: String?) {
    let key = Device.Key(peripheral: report.peripheral, adapter: report.adapter)
    let isNew = devices.path(key) == nil
    let rssi: ObjectTree.Properties = report.rssi.map { [("RSSI", .int16(Int16(clamping: $0)))] } ?? []
    guard
      let path = devices.add(
        key, address: report.address, addressType: report.addressType.text, rssi, isHeard: true)
    else { return }
    let now = context.clock.now
    guard let device = devices[path] else { return }
    // Other sessions have received the same report.
    let isRepeated = !isNew && device.lastReport >= report.time
    if !isRepeated {
      devices.change(path) {
        $0.lastHeard = now
        $0.lastReport = report.time
      }
      update(path, report, isNew: isNew)
      devices[path].map(heard)
    }
    if let client, !isNew { signalAgain(path, report, to: client) }
  }

  /// Sends an advertisement to a program that requested each, without the properties already sent to all programs: each
  /// is sent once.
  private func signalAgain(_ path: String, _ report: ScanReport.Params, to client: String) {
    let data = AdvertisingData(parsing: report.data.octets + (report.scanResponse?.octets ?? []))
    var names = Set<String>()
    if report.rssi != nil { names.insert("RSSI") }
    if data.first(.manufacturerSpecificData) != nil { names.insert("ManufacturerData") }
    if report.serviceData?.isEmpty == false { names.insert("ServiceData") }
    names.subtract(devices[path]?.toldToAll ?? [])
    let values = names.sorted().compactMap { name in
      (name == "RSSI" ? report.rssi.map { .int16(Int16(clamping: $0)) } : context.tree.value(path, .device, name))
        .map { (name, $0) }
    }
    if !values.isEmpty { context.signal(client, ObjectTree.changed(path, .device, values)) }
  }

  private func update(_ path: String, _ report: ScanReport.Params, isNew: Bool) {
    devices.change(path) { $0.toldToAll = [] }
    let isChanged = setData(path, report)
    guard let rssi = report.rssi else { return }
    let now = context.clock.now
    let told = devices[path]?.told
    let isDue =
      isChanged || isNew || told == nil || context.tree.value(path, .device, "RSSI") == nil
      || told.map { abs($0.rssi - rssi) >= Self.rssiStep || $0.time.advanced(by: Self.pause) <= now } ?? true
    guard isDue else { return }
    devices.change(path) {
      $0.told = (now, rssi)
      $0.toldToAll.insert("RSSI")
    }
    context.tree.set(path, .device, "RSSI", .int16(Int16(clamping: rssi)), isRepeated: !isNew)
  }

  /// Sets the properties of the advertisement. Data replaces earlier data of its kind, other kinds stay.
  /// - Returns: true if anything changed.
  private func setData(_ path: String, _ report: ScanReport.Params) -> Bool {
    guard var device = devices[path] else { return false }
    let data = AdvertisingData(parsing: report.data.octets + (report.scanResponse?.octets ?? []))
    var isChanged = false
    func set(_ name: String, _ value: BusValue?) {
      guard let value, context.tree.value(path, .device, name) != value else { return }
      context.tree.set(path, .device, name, value)
      devices.change(path) { $0.toldToAll.insert(name) }
      isChanged = true
    }
    for octets in data.all(.manufacturerSpecificData) where octets.count >= 2 {
      device.manufacturerData.set(Array(octets[2...]), for: UInt16(octets[0]) | UInt16(octets[1]) << 8)
    }
    for structure in data.structures where !Self.told.contains(structure.type) {
      device.otherData.set(structure.data, for: structure.type.rawValue)
    }
    for (uuid, octets) in (report.serviceData ?? [:]).sorted(by: { $0.key < $1.key }) {
      if let uuid = BluetoothUUID(uuid) { device.serviceData.set(octets.octets, for: uuid) }
    }
    for uuid in report.services ?? [] { device.services.add(uuid) }
    devices.change(path) { $0 = device }
    if let name = report.name, context.tree.value(path, .device, "Name") != .string(name) {
      devices.name(path, name)
      isChanged = true
    }
    if !device.manufacturerData.values.isEmpty {
      set("ManufacturerData", Self.value(device.manufacturerData.values))
    }
    if !device.serviceData.values.isEmpty { set("ServiceData", Self.value(device.serviceData.values)) }
    set("UUIDs", device.uuids)
    // As advertised: some controllers report another one of their own.
    set("TxPower", data.first(.txPowerLevel)?.first.map { .int16(Int16(Int8(bitPattern: $0))) })
    set("Appearance", report.appearance.map { .uint16(UInt16(clamping: $0)) })
    set("Icon", report.appearance.flatMap(Icon.name).map(BusValue.string))
    set("AdvertisingFlags", data.first(.flags).map(BusValue.bytes))
    if !device.otherData.values.isEmpty { set("AdvertisingData", Self.value(device.otherData.values)) }
    return isChanged
  }

  /// The types contained in other properties, and the types that protect pairing out of band: AdvertisingData is
  /// without them.
  private static let told: Set<AdvertisingDataType> = [
    .flags, .incompleteServices16, .completeServices16, .incompleteServices32, .completeServices32,
    .incompleteServices128, .completeServices128, .shortenedLocalName, .completeLocalName, .txPowerLevel,
    .serviceData16, .serviceData32, .serviceData128, .appearance, .manufacturerSpecificData,
    .secureConnectionsConfirmation, .secureConnectionsRandom,
  ]

  /// `a{yv}`
  private static func value(_ data: [UInt8: [UInt8]]) -> BusValue {
    .dictionary(
      key: "y", value: "v",
      data.sorted { $0.key < $1.key }.map { BusValue.Entry(.byte($0.key), .variant(.bytes($0.value))) })
  }

  /// `a{qv}`
  private static func value(_ data: [UInt16: [UInt8]]) -> BusValue {
    .dictionary(
      key: "q", value: "v",
      data.sorted { $0.key < $1.key }.map { BusValue.Entry(.uint16($0.key), .variant(.bytes($0.value))) })
  }

  /// `a{sv}`
  private static func value(_ data: [BluetoothUUID: [UInt8]]) -> BusValue {
    .options(data.map { ($0.key.long, BusValue.bytes($0.value)) }.sorted { $0.0 < $1.0 })
  }

  /// The last discovery has ended: the next first report of a device is sent.
  func ended(on adapter: String) {
    for device in devices.all where device.key.adapter == adapter {
      devices.set(device.path, "RSSI", nil)
      devices.set(device.path, "TxPower", nil)
      devices.change(device.path) { $0.told = nil }
    }
  }
}
