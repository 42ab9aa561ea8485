import Bluetooth

/// The meaning of AD structures (Supplement to the Bluetooth Core Specification, Part A) for people.
extension AdvertisingData.Structure {
  /// The content as one line, such as "Heart Rate" or "4 dBm"; nil: its octets have no known meaning.
  public var meaning: String? {
    let single = AdvertisingData([self])
    switch type {
    case .flags: return single.flags.map(Self.words)
    case .completeLocalName, .shortenedLocalName: return single.localName
    case .txPowerLevel: return single.txPowerLevel.map { "\($0) dBm" }
    case .appearance: return single.appearance.map { "\(Appearance(rawValue: $0))" }
    case .uri: return single.uri
    case .manufacturerSpecificData: return single.manufacturerData.first.map(Self.words)
    default: break
    }
    if let data = serviceData {
      let value = AssignedValue.text(forDataOf: data.uuid, data.data)
      return [Self.title(data.uuid), value ?? Hex.encode(data.data)].filter { !$0.isEmpty }.joined(separator: ": ")
    }
    let services = serviceUUIDs + solicitedServiceUUIDs
    return services.isEmpty ? nil : services.map(Self.title).joined(separator: ", ")
  }

  private static func title(_ uuid: BluetoothUUID) -> String { uuid.knownName ?? "\(uuid)" }

  private static func words(_ data: AdvertisingData.ManufacturerData) -> String {
    let company = data.companyName ?? "company 0x" + Hex.encode([UInt8(data.company >> 8), UInt8(data.company & 0xFF)])
    return [company, Hex.encode(data.data)].filter { !$0.isEmpty }.joined(separator: ": ")
  }

  private static func words(_ flags: AdvertisingFlags) -> String {
    let names: [(AdvertisingFlags, String)] = [
      (.limitedDiscoverable, "limited discoverable"), (.generalDiscoverable, "general discoverable"),
      (.brEDRNotSupported, "BR/EDR not supported"), (.simultaneousLEAndBREDR, "simultaneous LE and BR/EDR"),
    ]
    let set = names.filter { flags.contains($0.0) }.map(\.1)
    return set.isEmpty ? "none" : set.joined(separator: ", ")
  }
}
