import Bluetooth

/// The known formats of makers and applications: one line each, by the announcing AD type.
extension AdvertisingData {
  /// The facts about a device besides one format's data.
  public struct Source {
    /// The whole data.
    let data: AdvertisingData
    /// The device's address; nil for an anonymous advertisement.
    let address: DeviceAddress?
    /// Decrypts, where there is a key.
    let open: (SealedData) -> SealedData.Opened
  }

  /// Maximum items from one report; further structures are not decoded.
  public static let maximumDecoded = 8

  private static let companies: [(company: UInt16?, decode: @Sendable (ManufacturerData, Source) -> DecodedData?)] = [
    (IBeacon.company, { data, _ in IBeacon(data)?.decoded }),
    (nil, { data, _ in AltBeacon(data)?.decoded }),
    (RuuviTag.company, { data, _ in RuuviTag.decode(data.data) }),
    (Govee.company, { data, _ in Govee.decode(data.data) }),
    (Govee.laterCompany, { data, source in Govee.decodeLater(data.data, source.data) }),
  ]

  private static let services: [(service: BluetoothUUID, decode: @Sendable ([UInt8], Source) -> DecodedData?)] = [
    (Eddystone.service, { data, _ in Eddystone(data)?.decoded }),
    (BTHome.service, { data, source in BTHome.decode(data, source) }),
    (MiBeacon.service, { data, source in MiBeacon.decode(data, source) }),
    (SwitchBot.service, { data, _ in SwitchBot.decode(data) }),
    (SwitchBot.formerService, { data, _ in SwitchBot.decode(data) }),
  ]

  /// The content in the known formats, in the data's order, at most eight items. An item in both the advertisement and
  /// the scan response counts once.
  /// - Parameters:
  ///   - address: the device's address, used by encryption.
  ///   - open: decrypts encrypted data.
  public func decoded(
    address: DeviceAddress?, open: (SealedData) -> SealedData.Opened = { _ in .keyIsMissing }
  ) -> [DecodedData] {
    withoutActuallyEscaping(open) { open in
      let source = Source(data: self, address: address, open: open)
      var decoded: [DecodedData] = []
      for structure in structures where decoded.count < Self.maximumDecoded {
        if let found = Self.decode(structure, source), !decoded.contains(found) { decoded.append(found) }
      }
      return decoded
    }
  }

  private static func decode(_ structure: Structure, _ source: Source) -> DecodedData? {
    if structure.type == .manufacturerSpecificData {
      guard let data = ManufacturerData(octets: structure.data) else { return nil }
      for format in companies where format.company == nil || format.company == data.company {
        if let decoded = format.decode(data, source) { return decoded }
      }
    } else if let data = structure.serviceData {
      for format in services where format.service == data.uuid {
        if let decoded = format.decode(data.data, source) { return decoded }
      }
    }
    return nil
  }
}
