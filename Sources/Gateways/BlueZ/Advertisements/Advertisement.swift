import BledRPC
import Bluetooth

/// The content of a program's advertisement (BlueZ, org.bluez.LEAdvertisement).
struct Advertisement {
  /// The flags of an advertisement that is not discoverable: no classic transport (Core Specification Supplement, Part
  /// A, 1.3).
  private static let notDiscoverable = AdvertisingStart.Structure(type: 0x01, data: HexBytes([0x04]))

  /// In milliseconds, of legacy PDUs (Core 5.4, Vol 6, Part B, 4.4.2.2.1).
  private static let longestInterval = 10_240

  private(set) var params: AdvertisingStart.Params
  /// True if extended PDUs may be used for data that does not fit into legacy ones, which more devices receive.
  private var mayExtend: Bool

  /// - Parameters:
  ///   - properties: the properties of the program's object.
  ///   - alias: the adapter's name, for `Includes`.
  /// - Throws: `BusError` if a property has another type, or is not valid.
  init(_ properties: [String: BusValue], adapter: String, alias: String) throws(BusError) {
    guard let type = properties["Type"]?.string, ["peripheral", "broadcast"].contains(type) else {
      throw Self.invalid
    }
    var params = AdvertisingStart.Params(adapter: adapter)
    params.connectable = type == "peripheral"
    // bled itself puts into the scan response the data that does not fit into the advertisement.
    for prefix in ["", "ScanResponse"] { try Self.setContent(properties, prefix, &params) }
    params.name = try Self.read(properties, "LocalName", \.string)
    params.appearance = try Self.read(properties, "Appearance", \.integer)
    if let isDiscoverable = try Self.read(properties, "Discoverable", \.boolean), !isDiscoverable,
      params.connectable == true
    {
      params.structures = (params.structures ?? []) + [Self.notDiscoverable]
    }
    try Self.setTiming(properties, &params)
    let includes = try Self.read(properties, "Includes", \.strings) ?? []
    if includes.contains("local-name"), params.name == nil { params.name = alias }
    let channel = try Self.read(properties, "SecondaryChannel", \.string)
    mayExtend = channel == "1M"
    if let channel, channel != "1M" {
      guard ["2M", "Coded"].contains(channel) else { throw Self.invalid }
      params.extended = true
      params.secondaryPHY = channel == "2M" ? .le2M : .leCoded
      if channel == "Coded" { params.primaryPHY = .leCoded }
    }
    if includes.contains("tx-power") { Self.includePower(&params) }
    self.params = params
  }

  /// The advertisement to try after this one was refused; nil for none.
  func instead(after error: BluetoothError) -> Advertisement? {
    var other = self
    switch error {
    // Programs request a power whether the controller supports a choice or not.
    case _ where error == GAPError.notSupported && params.txPower != nil: other.params.txPower = nil
    case _ where error == GAPError.advertisingDataTooLong && mayExtend:
      (other.params.extended, other.params.secondaryPHY, other.mayExtend) = (true, .le1M, false)
    default: return nil
    }
    return other
  }

  private static let invalid = BusError.failed("Failed to parse advertisement.")

  private static func read<Value>(
    _ properties: [String: BusValue], _ name: String, _ value: KeyPath<BusValue, Value?>
  ) throws(BusError) -> Value? {
    guard let property = properties[name] else { return nil }
    guard let read = property[keyPath: value] else { throw invalid }
    return read
  }

  /// Adds the data of the properties with a prefix.
  private static func setContent(
    _ properties: [String: BusValue], _ prefix: String, _ params: inout AdvertisingStart.Params
  ) throws(BusError) {
    if let services = try uuids(properties, prefix + "ServiceUUIDs") {
      params.services = (params.services ?? []) + services
    }
    if let services = try uuids(properties, prefix + "SolicitUUIDs") {
      params.solicitedServices = (params.solicitedServices ?? []) + services
    }
    if let data = try serviceData(properties, prefix + "ServiceData") {
      params.serviceData = (params.serviceData ?? [:]).merging(data) { $1 }
    }
    try setManufacturerData(properties, prefix + "ManufacturerData", &params)
    try setStructures(properties, prefix + "Data", &params)
  }

  /// Includes the transmit power: the header of extended PDUs has the actual one, legacy PDUs the requested one.
  private static func includePower(_ params: inout AdvertisingStart.Params) {
    if params.extended == true {
      params.includeTxPower = true
    } else if let power = params.txPower.flatMap(Int8.init(exactly:)) {
      let data = HexBytes([UInt8(bitPattern: power)])
      params.structures = (params.structures ?? []) + [AdvertisingStart.Structure(type: 0x0A, data: data)]
    }
  }

  private static func uuids(_ properties: [String: BusValue], _ name: String) throws(BusError) -> [BluetoothUUID]? {
    guard let texts = try read(properties, name, \.strings), !texts.isEmpty else { return nil }
    let uuids = texts.compactMap { BluetoothUUID($0) }
    guard uuids.count == texts.count else { throw invalid }
    return uuids
  }

  private static func serviceData(
    _ properties: [String: BusValue], _ name: String
  ) throws(BusError) -> [String: HexBytes]? {
    guard let entries = try read(properties, name, \.options), !entries.isEmpty else { return nil }
    var data: [String: HexBytes] = [:]
    for (text, value) in entries {
      guard let uuid = BluetoothUUID(text), let octets = value.bytes else { throw invalid }
      data["\(uuid)"] = HexBytes(octets)
    }
    return data
  }

  /// The first company's data in its own member, the others' as structures.
  private static func setManufacturerData(
    _ properties: [String: BusValue], _ name: String, _ params: inout AdvertisingStart.Params
  ) throws(BusError) {
    guard let value = properties[name] else { return }
    guard case .dictionary("q", _, let entries) = value.unwrapped else { throw invalid }
    for entry in entries {
      guard case .uint16(let company) = entry.key, let octets = entry.value.bytes else { throw invalid }
      let data = HexBytes([UInt8(company & 0xFF), UInt8(company >> 8)] + octets)
      if params.manufacturerData == nil {
        params.manufacturerData = data
      } else {
        params.structures = (params.structures ?? []) + [AdvertisingStart.Structure(type: 0xFF, data: data)]
      }
    }
  }

  private static func setStructures(
    _ properties: [String: BusValue], _ name: String, _ params: inout AdvertisingStart.Params
  ) throws(BusError) {
    guard let value = properties[name] else { return }
    guard case .dictionary("y", _, let entries) = value.unwrapped else { throw invalid }
    for entry in entries {
      guard case .byte(let type) = entry.key, let octets = entry.value.bytes else { throw invalid }
      params.structures =
        (params.structures ?? []) + [AdvertisingStart.Structure(type: Int(type), data: HexBytes(octets))]
    }
  }

  private static func setTiming(
    _ properties: [String: BusValue], _ params: inout AdvertisingStart.Params
  ) throws(BusError) {
    if let seconds = try read(properties, "Timeout", \.integer), seconds > 0 { params.duration = Double(seconds) }
    // `Duration` is the time before another advertisement has its turn, which bled decides itself.
    if let least = try read(properties, "MinInterval", \.integer) {
      let most = try read(properties, "MaxInterval", \.integer) ?? least
      guard least >= 20, most >= least else { throw invalid }
      params.interval = Double(min(least, longestInterval)) / 1000
    }
    params.txPower = try read(properties, "TxPower", \.integer)
    guard (-127...20).contains(params.txPower ?? 0) else { throw invalid }
  }
}
