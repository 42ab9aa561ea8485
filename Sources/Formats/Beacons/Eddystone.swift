import Bluetooth

/// A frame of an Eddystone beacon: service data of FEAA (Eddystone Protocol Specification). All numbers have the most
/// significant octet first. Encrypted values, or those derived from a key and the beacon's clock, are reported as sent.
public enum Eddystone: Hashable, Sendable {
  /// The identity: 10 octets for a namespace and 6 for an instance in it.
  case uid(txPower: Int8, namespace: [UInt8], instance: [UInt8])
  /// A URL.
  case url(txPower: Int8, url: String)
  /// Telemetry.
  case tlm(Telemetry)
  /// Telemetry readable only by the owner.
  case encryptedTLM(EncryptedTelemetry)
  /// An ephemeral identifier, 8 octets: only the owner can resolve it, as it changes again and again.
  case eid(txPower: Int8, identifier: [UInt8])

  /// How the beacon is.
  public struct Telemetry: Hashable, Sendable {
    /// The battery's voltage in millivolts; 0 without a battery.
    public var millivolts: UInt16
    /// Its temperature in 1/256 °C; −32768 if it is not measured.
    public var temperature: Int16
    /// Packets sent since its start.
    public var packets: UInt32
    /// The time since its start, in tenths of a second.
    public var tenthsOfSeconds: UInt32
  }

  /// Telemetry as it is sent with an ephemeral identifier: AES-EAX with the beacon's identity key, and its clock and
  /// the salt as the nonce.
  public struct EncryptedTelemetry: Hashable, Sendable {
    /// 12 octets.
    public var payload: [UInt8]
    /// 2 octets.
    public var salt: [UInt8]
    /// 2 octets.
    public var check: [UInt8]
  }

  /// The service of all frames.
  public static let service: BluetoothUUID = 0xFEAA

  /// Reads the service data.
  /// - Returns: nil for other frames, and for malformed ones.
  public init?(_ data: [UInt8]) {
    var reader = OctetReader(data)
    switch reader.uint8() {
    case 0x00:
      guard let power = reader.uint8(), let namespace = reader.octets(10), let instance = reader.octets(6) else {
        return nil
      }
      self = .uid(txPower: Int8(bitPattern: power), namespace: namespace, instance: instance)
    case 0x10:
      guard let power = reader.uint8(), let url = EddystoneURL.text(data.dropFirst(2)) else { return nil }
      self = .url(txPower: Int8(bitPattern: power), url: url)
    case 0x20:
      let version = reader.uint8()
      if version == 1, data.count == 18, let payload = reader.octets(12), let salt = reader.octets(2),
        let check = reader.octets(2)
      {
        self = .encryptedTLM(EncryptedTelemetry(payload: payload, salt: salt, check: check))
        return
      }
      guard data.count == 14, version == 0, let millivolts = reader.bigEndian(2),
        let temperature = reader.signedBigEndian(2), let packets = reader.bigEndian(4), let time = reader.bigEndian(4)
      else { return nil }
      self = .tlm(
        Telemetry(
          millivolts: UInt16(truncatingIfNeeded: millivolts), temperature: Int16(truncatingIfNeeded: temperature),
          packets: UInt32(truncatingIfNeeded: packets), tenthsOfSeconds: UInt32(truncatingIfNeeded: time)))
    case 0x30:
      guard data.count == 10, let power = reader.uint8(), let identifier = reader.octets(8) else { return nil }
      self = .eid(txPower: Int8(bitPattern: power), identifier: identifier)
    default: return nil
    }
  }

  /// The content, by name. Powers apply to a distance of 0 m, 41 dB above the power at 1 m.
  public var decoded: DecodedData {
    switch self {
    case .uid(let power, let namespace, let instance):
      var decoded = DecodedData(.eddystoneUID)
      decoded.add("namespace", hex: namespace)
      decoded.add("instance", hex: instance)
      decoded.add("txPower", power)
      return decoded
    case .url(let power, let url):
      var decoded = DecodedData(.eddystoneURL)
      decoded.add("url", .text(url))
      decoded.add("txPower", power)
      return decoded
    case .tlm(let telemetry):
      var decoded = DecodedData(.eddystoneTLM)
      if telemetry.millivolts > 0 { decoded.add("voltage", Int(telemetry.millivolts), over: 1000) }
      if telemetry.temperature > .min { decoded.add("temperature", Int(telemetry.temperature), over: 256) }
      decoded.add("packets", telemetry.packets)
      decoded.add("uptime", Int(telemetry.tenthsOfSeconds), over: 10)
      return decoded
    case .encryptedTLM(let telemetry):
      var decoded = DecodedData(.eddystoneTLM)
      decoded.add("encrypted", true)
      decoded.add("payload", hex: telemetry.payload)
      decoded.add("salt", hex: telemetry.salt)
      decoded.add("check", hex: telemetry.check)
      return decoded
    case .eid(let power, let identifier):
      var decoded = DecodedData(.eddystoneEID)
      decoded.add("identifier", hex: identifier)
      decoded.add("txPower", power)
      return decoded
    }
  }
}

extension Eddystone {
  /// The data of an identity frame.
  /// - Returns: nil unless the namespace has 10 octets and the instance has 6.
  public static func uidData(txPower: Int8, namespace: [UInt8], instance: [UInt8]) -> [UInt8]? {
    guard namespace.count == 10, instance.count == 6 else { return nil }
    return [0x00, UInt8(bitPattern: txPower)] + namespace + instance + [0, 0]
  }

  /// The data of a URL frame.
  /// - Throws: `BledError.invalidParameter`, with the valid values.
  public static func urlData(txPower: Int8, url: String) throws(BluetoothError) -> [UInt8] {
    [0x10, UInt8(bitPattern: txPower)] + (try EddystoneURL.octets(url))
  }
}
