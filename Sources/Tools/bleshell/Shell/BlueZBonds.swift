import BledRPC
import Bluetooth
import FoundationEssentials

/// The bonds in bluetoothd's state directory: `ADAPTER/DEVICE/info`, a text with sections and `key=value` lines.
struct BlueZBonds {
  /// The bonds that can be imported.
  private(set) var bonds: [PairingImport.Params] = []
  /// Devices that cannot, with the reason.
  private(set) var problems: [(device: String, reason: String)] = []

  /// Reads a state directory.
  /// - Parameter path: `/var/lib/bluetooth`, which root alone can read.
  /// - Throws: if it cannot be read.
  init(path: String) throws {
    let files = FileManager.default
    for adapter in try files.contentsOfDirectory(atPath: path).sorted() where Self.isAddress(adapter) {
      let devices = (try? files.contentsOfDirectory(atPath: "\(path)/\(adapter)")) ?? []
      for device in devices.sorted() where Self.isAddress(device) {
        let file = "\(path)/\(adapter)/\(device)/info"
        // Larger than any such file.
        guard let data = files.contents(atPath: file), data.count <= 65536 else { continue }
        add(Self.sections(of: String(decoding: data, as: UTF8.self)), adapter, device)
      }
    }
  }

  private static func isAddress(_ name: String) -> Bool { DeviceAddress(name, kind: .public) != nil }

  private typealias Section = [String: String]

  private static func sections(of text: String) -> [String: Section] {
    var sections: [String: Section] = [:]
    var name = ""
    for line in text.split(whereSeparator: \.isNewline) {
      if line.hasPrefix("["), line.hasSuffix("]") {
        name = String(line.dropFirst().dropLast())
      } else if let equals = line.firstIndex(of: "=") {
        sections[name, default: [:]][String(line[..<equals])] = String(line[line.index(after: equals)...])
      }
    }
    return sections
  }

  private mutating func add(_ sections: [String: Section], _ adapter: String, _ device: String) {
    let general = sections["General"] ?? [:]
    let name = general["Name"].map { "\($0) (\(device))" } ?? device
    // BlueZ writes the older name of the second one as well.
    let peripheral = sections["PeripheralLongTermKey"] ?? sections["SlaveLongTermKey"]
    let roles = [(sections["LongTermKey"], true), (peripheral, false)]
    let keys = roles.compactMap { section, isCentral in
      section.flatMap { Self.longTermKey($0, isCentral: isCentral) }
    }
    guard !keys.isEmpty else {
      if sections["LinkKey"] != nil {
        problems.append((name, "it has keys for Bluetooth Classic only"))
      } else if roles.contains(where: { $0.0 != nil }) {
        problems.append((name, "its key is not valid, or was made with debug keys"))
      }
      return
    }
    var signatures: [PairingImport.SignatureKey] = []
    for (section, isOurs) in [("LocalSignatureKey", true), ("RemoteSignatureKey", false)] {
      guard let key = sections[section], let value = Self.key(key) else { continue }
      signatures.append(.init(value: value, ours: isOurs, authenticated: ["1", "true"].contains(key["Authenticated"])))
    }
    bonds.append(
      .init(
        adapterAddress: adapter, address: device, addressType: general["AddressType"] == "public" ? .public : .random,
        longTermKeys: keys, identityResolvingKey: sections["IdentityResolvingKey"].flatMap(Self.key),
        signatureKeys: signatures))
  }

  private static func key(_ section: Section) -> HexBytes? {
    let text = section["Key"].map { $0.hasPrefix("0x") ? $0.dropFirst(2) : $0[...] }
    guard let octets = text.flatMap({ Hex.decode($0) }), octets.count == 16 else { return nil }
    return HexBytes(octets)
  }

  /// Types: 0 legacy, 1 legacy and authenticated, 2 LE Secure Connections, 3 LE Secure Connections and authenticated, 4
  /// debug.
  private static func longTermKey(_ section: Section, isCentral: Bool) -> PairingImport.LongTermKey? {
    guard let value = key(section), let type = section["Authenticated"].flatMap({ Int($0) }), (0...3).contains(type),
      let size = section["EncSize"].flatMap({ Int($0) }), (7...16).contains(size),
      let diversifier = UInt16(section["EDiv"] ?? "0"), let random = UInt64(section["Rand"] ?? "0")
    else { return nil }
    let octets = (0..<8).map { UInt8(truncatingIfNeeded: random >> (56 - 8 * UInt64($0))) }
    return .init(
      value: value, size: size, diversifier: diversifier, random: HexBytes(octets), authenticated: type % 2 == 1,
      secureConnections: type >= 2, central: isCentral)
  }
}
