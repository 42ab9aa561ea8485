import Bluetooth

/// The names and formats that people give devices, services and characteristics, in a file of lines:
///
///     # a comment
///     KEY = NAME
///     KEY = NAME: FORMAT
///     KEY = : FORMAT
///
/// A KEY is the UUID of a service, a characteristic or a descriptor, or the address of a device; with slashes between
/// them it is more particular: `SERVICE/UUID`, `ADDRESS/UUID`, `ADDRESS/SERVICE/UUID`. A FORMAT is a `ValueFormat`.
public struct NameList: Hashable, Sendable {
  /// Things that have a name.
  public struct Key: Hashable, Sendable, CustomStringConvertible {
    /// The address of a device; nil: of any.
    public var address: String?
    /// Its service; nil: any.
    public var service: BluetoothUUID?
    /// nil: the device is meant.
    public var uuid: BluetoothUUID?

    /// Makes a key.
    public init(address: String? = nil, service: BluetoothUUID? = nil, uuid: BluetoothUUID? = nil) {
      (self.address, self.service, self.uuid) = (address, service, uuid)
    }

    /// Reads a key.
    public init?(_ text: some StringProtocol) {
      var parts = text.split(separator: "/", omittingEmptySubsequences: false)
      if let first = parts.first, let address = DeviceAddress(first, kind: .public) {
        self.address = "\(address)"
        parts.removeFirst()
        if parts.isEmpty { return }
      }
      let uuids = parts.compactMap { BluetoothUUID($0) }
      guard uuids.count == parts.count, (1...2).contains(uuids.count) else { return nil }
      service = uuids.count == 2 ? uuids[0] : nil
      uuid = uuids.last
    }

    /// As it is written in a file.
    public var description: String {
      [address, service.map { "\($0)" }, uuid.map { "\($0)" }].compactMap { $0 }.joined(separator: "/")
    }
  }

  /// A line of the file.
  public struct Entry: Hashable, Sendable {
    /// The thing with the name.
    public var key: Key
    /// nil: it keeps its name.
    public var name: String?
    /// nil: it keeps its format.
    public var format: ValueFormat?
    /// The same as it is written.
    public var formatText: String?
  }

  /// A line that cannot be read.
  public struct Fault: Error, Hashable, Sendable, CustomStringConvertible {
    /// From 1 on.
    public let line: Int
    /// The fault and its remedy.
    public let message: String

    /// "3: the fault and its remedy"
    public var description: String { "\(line): \(message)" }
  }

  /// The file for all users of the machine.
  public static let systemFile = "/etc/bled/names"
  /// The longest file, in octets.
  public static let longest = 1 << 20
  /// The longest name, in octets.
  static let longestName = 64

  /// In the order of the file.
  public private(set) var entries: [Entry] = []
  private var places: [Key: Int] = [:]

  /// Makes a list without entries.
  public init() {}

  /// Reads the text of a file.
  public init(_ text: String) throws(Fault) {
    let lines = text.split(omittingEmptySubsequences: false) { $0.isNewline }
    for (index, line) in lines.enumerated() {
      let line = line.trimmed
      guard !line.isEmpty, line.first != "#" else { continue }
      add(try Entry(line, number: index + 1))
    }
  }

  /// The same list with the entries of another one behind its own: of two with one key the first counts.
  public func followed(by other: NameList) -> NameList {
    var list = self
    for entry in other.entries { list.add(entry) }
    return list
  }

  private mutating func add(_ entry: Entry) {
    guard let place = places[entry.key] else {
      places[entry.key] = entries.count
      entries.append(entry)
      return
    }
    entries[place].name = entries[place].name ?? entry.name
    guard entries[place].format == nil else { return }
    (entries[place].format, entries[place].formatText) = (entry.format, entry.formatText)
  }

  // MARK: Looking up

  /// The name of a device.
  public func name(ofDevice address: String) -> String? { entry(Key(address: address))?.name }

  /// The name of an attribute, the most particular one.
  public func name(of uuid: BluetoothUUID, in service: BluetoothUUID? = nil, of address: String? = nil) -> String? {
    particular(uuid, service, address).lazy.compactMap { self.entry($0)?.name }.first
  }

  /// The format of an attribute's value, the most particular one.
  public func format(
    of uuid: BluetoothUUID, in service: BluetoothUUID? = nil, of address: String? = nil
  ) -> ValueFormat? {
    particular(uuid, service, address).lazy.compactMap { self.entry($0)?.format }.first
  }

  /// The address of the device with a name, in upper or lower case.
  public func address(ofDevice name: String) -> String? {
    entries.first { $0.key.uuid == nil && $0.name?.lowercased() == name.lowercased() }?.key.address
  }

  /// The names of devices, in the order of the list.
  public var deviceNames: [String] { entries.compactMap { $0.key.uuid == nil ? $0.name : nil } }

  private func entry(_ key: Key) -> Entry? { places[key].map { entries[$0] } }

  private func particular(_ uuid: BluetoothUUID, _ service: BluetoothUUID?, _ address: String?) -> [Key] {
    let addresses = address.map { [$0, nil] } ?? [nil]
    let services = service.map { [$0, nil] } ?? [nil]
    return addresses.flatMap { address in services.map { Key(address: address, service: $0, uuid: uuid) } }
  }

  // MARK: Changing a file

  /// The text of a file with another line for a key, or without one.
  /// - Parameters:
  ///   - text: The text of the file.
  ///   - line: The line; nil: it is removed.
  public static func replacing(_ key: Key, in text: String, with line: String?) -> String {
    var lines = text.split(omittingEmptySubsequences: false) { $0.isNewline }.map(String.init)
    if lines.last == "" { lines.removeLast() }
    var new = line
    lines = lines.compactMap { old in
      guard let equals = old.firstIndex(of: "="), Key(old[..<equals].trimmed) == key else { return old }
      defer { new = nil }
      return new
    }
    if let new { lines.append(new) }
    return lines.map { $0 + "\n" }.joined()
  }

  /// The line of an entry.
  public static func line(_ key: Key, name: String, format: String?) -> String {
    "\(key) = \(name)" + (format.map { ": " + $0 } ?? "")
  }
}

extension NameList.Entry {
  /// Reads a line.
  init(_ line: Substring, number: Int) throws(NameList.Fault) {
    func fault(_ message: String) -> NameList.Fault { .init(line: number, message: message) }
    guard let equals = line.firstIndex(of: "=") else {
      throw fault("the = is missing: give KEY = NAME, or KEY = NAME: FORMAT")
    }
    guard let key = NameList.Key(line[..<equals].trimmed) else {
      throw fault("before the = is no key: give a UUID or an address, or several with slashes between them")
    }
    let right = line[line.index(after: equals)...]
    let colon = right.firstIndex(of: ":")
    let name = right[..<(colon ?? right.endIndex)].trimmed
    guard name.utf8.count <= NameList.longestName, !name.unicodeScalars.contains(where: { $0.value < 0x20 }) else {
      throw fault("the name is not valid: give at most \(NameList.longestName) octets of text")
    }
    self.init(key: key, name: name.isEmpty ? nil : String(name), format: nil, formatText: nil)
    if let colon {
      guard key.uuid != nil else { throw fault("a device has no format: name a characteristic behind a slash") }
      do throws(ValueFormatError) {
        let text = right[right.index(after: colon)...].trimmed
        (format, formatText) = (try ValueFormat(text), String(text))
      } catch {
        throw fault(error.description)
      }
    }
    guard self.name != nil || format != nil else { throw fault("there is neither a name nor a format behind the =") }
  }
}

extension Substring {
  /// Without blanks and tabs at both ends.
  fileprivate var trimmed: Substring {
    var text = self
    while let first = text.first, first == " " || first == "\t" { text.removeFirst() }
    while let last = text.last, last == " " || last == "\t" || last == "\r" { text.removeLast() }
    return text
  }
}
