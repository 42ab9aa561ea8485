import ArgumentParser
import BledRPC
import Bluetooth
import ValueFormats

/// The options of `bleshell scan` that make a filter of `scan.start`: all of them must match.
struct ScanFilterOptions: ParsableArguments {
  @Option(help: "Only devices with a name that begins with this.") var name: String?
  @Flag(help: "With --name: match the full name.") var wholeName = false
  @Flag(help: "With --name: upper and lower case are the same.") var ignoreCase = false
  @Option(
    help: """
      Only devices with manufacturer data of this company, such as 0x004C or Apple, that begins with these octets, of \
      which the bits of a mask count: COMPANY[=HEX[/MASK]].
      """)
  var manufacturer: String?
  @Option(help: "Only devices with service data like this: UUID[=HEX[/MASK]].") var serviceData: String?
  @Option(
    help: "Only devices with these octets in an AD structure, behind its type: TYPE[@OFFSET]=HEX, as 0xFF@2=0215.")
  var pattern: String?
  @Option(
    name: .customLong("address-kind"),
    help: "Only addresses of this kind; can be repeated.")
  var addressKinds: [ScanStart.AddressKind] = []
  @Flag(help: "Only devices that accept connections.") var connectable = false

  func validate() throws {
    guard name != nil || !wholeName && !ignoreCase else {
      throw ValidationError("--whole-name and --ignore-case say how to compare a name: add --name")
    }
    _ = try filter
  }

  /// The beginning of a name, unchanged, for which `scan.start` has a member of its own.
  var namePrefix: String? { wholeName || ignoreCase ? nil : name }

  /// The filter, for everything else; nil for none.
  var filter: ScanStart.Filter? {
    get throws {
      let filter = ScanStart.Filter(
        name: namePrefix == nil ? name : nil, wholeName: wholeName ? true : nil, ignoreCase: ignoreCase ? true : nil,
        manufacturer: try manufacturer.map(Self.manufacturer), serviceData: try serviceData.map(Self.serviceData),
        pattern: try pattern.map(Self.pattern), addressKinds: addressKinds.isEmpty ? nil : addressKinds.words(),
        connectable: connectable ? true : nil)
      return filter == .init() ? nil : filter
    }
  }

  /// True if the user gives a device a name that matches; the daemon does not know such names.
  func areOnOwnName(_ names: NameList) -> Bool { name != nil && names.deviceNames.contains(where: passes) }

  /// The filters that are not on the name.
  var withoutName: ScanFilterOptions {
    var rest = self
    (rest.name, rest.wholeName, rest.ignoreCase) = (nil, false, false)
    return rest
  }

  /// True if the name that the user gives a device matches, or the one that it advertises.
  /// - Parameters:
  ///   - named: A report with the user's name.
  ///   - heard: The report as it was received.
  func passes(_ named: ScanReport.Params, of heard: ScanReport.Params) -> Bool {
    passes(name: named.name ?? "") || passes(name: heard.name ?? "")
  }

  /// Returns true if a name matches.
  func passes(name: String) -> Bool {
    guard let wanted = self.name else { return true }
    let (wantedText, text) = ignoreCase ? (wanted.lowercased(), name.lowercased()) : (wanted, name)
    return wholeName ? text == wantedText : text.hasPrefix(wantedText)
  }

  /// True if everything passes.
  var isUnused: Bool { name == nil && isOnNames }

  /// True if only names are filtered.
  var isOnNames: Bool {
    manufacturer == nil && serviceData == nil && pattern == nil && addressKinds.isEmpty && !connectable
  }

  private static func manufacturer(_ text: String) throws -> ScanStart.Manufacturer {
    guard let (name, data, mask) = parts(of: text) else {
      throw ValidationError("--manufacturer must be COMPANY[=HEX[/MASK]], such as Apple, 0x004C or 0x004C=0215")
    }
    typealias Data = AdvertisingData.ManufacturerData
    let found = UInt16(number: name).map { [$0] } ?? Data.companies(named: String(name))
    guard let company = found.first else {
      throw ValidationError(
        "\(name) is not a company that is known here"
          + Suggestion.question(
            String(name), among: Data.companyNames, then: "\"--manufacturer 0x004C\" names a company by its number"))
    }
    guard found.count == 1 else {
      let names = found.prefix(3).compactMap { Data(company: $0, data: []).companyName }
      throw ValidationError(
        "\(found.count) companies begin with \(name), among them \(names.joined(separator: " and ")): give more of the "
          + "name, or the number")
    }
    return .init(company: company, data: data, mask: mask)
  }

  private static func serviceData(_ text: String) throws -> ScanStart.ServiceData {
    guard let (name, data, mask) = parts(of: text), let uuid = BluetoothUUID(full: name) else {
      throw ValidationError("--service-data must be UUID[=HEX[/MASK]], such as FEAA or FEAA=10")
    }
    return .init(uuid: uuid, data: data, mask: mask)
  }

  private static func pattern(_ text: String) throws -> ScanStart.Pattern {
    guard let (place, octets, mask) = parts(of: text), let data = octets, mask == nil else { throw wrongPattern }
    let numbers = place.split(separator: "@", maxSplits: 1, omittingEmptySubsequences: false).map { UInt16(number: $0) }
    guard let type = numbers[0], let offset = numbers.count > 1 ? numbers[1] : 0 else { throw wrongPattern }
    return .init(type: Int(type), offset: numbers.count > 1 ? Int(offset) : nil, data: data)
  }

  private static var wrongPattern: ValidationError {
    ValidationError("--pattern must be TYPE[@OFFSET]=HEX, such as 0xFF@2=0215")
  }

  /// NAME[=HEX[/MASK]]
  private static func parts(of text: String) -> (name: Substring, data: HexBytes?, mask: HexBytes?)? {
    let sides = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    guard sides.count > 1 else { return (sides[0], nil, nil) }
    let octets = sides[1].split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false).map { Hex.decode($0) }
    guard let data = octets[0] else { return nil }
    guard octets.count > 1 else { return (sides[0], HexBytes(data), nil) }
    return octets[1].map { (sides[0], HexBytes(data), HexBytes($0)) }
  }
}

/// A service, by its UUID or its assigned name or the beginning of that.
@Sendable func serviceUUID(_ text: String) throws -> BluetoothUUID {
  guard !BluetoothUUID.isBeginning(text) else { throw ValidationError(BluetoothUUID.beginning(text)) }
  if let uuid = BluetoothUUID(text) { return uuid }
  let found = BluetoothUUID.services(named: text)
  guard let uuid = found.first, found.count == 1 else {
    throw ValidationError(
      found.isEmpty
        ? "\(text) is not a UUID, and not the name of a service that is known here"
        : "\(text) can be \(found.map { Attribute.title($0) }.joined(separator: " or "))")
  }
  return uuid
}

extension UInt16 {
  /// Reads a decimal number, or hex digits behind "0x".
  fileprivate init?(number: Substring) {
    let isHex = number.hasPrefix("0x") || number.hasPrefix("0X")
    self.init(isHex ? number.dropFirst(2) : number, radix: isHex ? 16 : 10)
  }
}

extension ScanStart.Filter {
  /// The filter as text.
  var words: String {
    func like(_ name: String, _ data: HexBytes?, _ mask: HexBytes?) -> String {
      name + (data.map { "=" + Hex.encode($0.octets) } ?? "") + (mask.map { "/" + Hex.encode($0.octets) } ?? "")
    }
    let words: [String?] = [
      services?.map { "\($0)" }.joined(separator: "|"), name.map { "\"\($0)\"" },
      manufacturer.map { like("company \($0.company)", $0.data, $0.mask) },
      serviceData.map { like("\($0.uuid)", $0.data, $0.mask) },
      pattern.map { like("AD \($0.type)@\($0.offset ?? 0)", $0.data, nil) },
      addressKinds?.map(\.text).joined(separator: "|"), connectable == true ? "connectable" : nil,
    ]
    return words.compactMap(\.self).joined(separator: "+")
  }
}
