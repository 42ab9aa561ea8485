import Bluetooth
import FoundationEssentials

extension ScanStart {
  /// The key with which a device encrypts its advertising data.
  public struct Key: RPCPayload, Hashable {
    /// The address of the device.
    public var address: String
    /// Its key, 16 octets: the bind key of BTHome or MiBeacon.
    public var key: HexBytes

    /// Makes a key of a device.
    public init(address: String, key: HexBytes) {
      self.address = address
      self.key = key
    }
  }
}

extension ScanStart.Params {
  /// These parameters without the keys of devices, for other sessions.
  public var withoutKeys: Self {
    var params = self
    params.keys = nil
    return params
  }
}

extension ScanReport {
  /// The member `decoded` of a report as JSON.
  /// - Throws: for numbers that are not finite, which no decoder gives.
  public static func encoded(_ decoded: [DecodedData]) throws -> Data {
    var writer = JSONWriter()
    try writer.value(decoded)
    return Data(copying: writer.codes[...])
  }
}

extension JSONWriter {
  /// Writes a list of objects, each with its kind and its values by name.
  mutating func value(_ decoded: [DecodedData]) throws {
    try array { writer in
      for data in decoded {
        writer.separate()
        try writer.object { writer in
          writer.name("kind")
          writer.value(data.kind)
          for member in data.members {
            writer.name(member.name)
            switch member.value {
            case .flag(let flag): writer.value(flag)
            case .integer(let integer): writer.value(integer)
            case .number(let number): try writer.value(number)
            case .text(let text): writer.value(text)
            }
          }
        }
      }
    }
  }
}
