import BledRPC
import Bluetooth
import ValueFormats

/// A characteristic or descriptor that a command works on.
struct Attribute {
  let handle: UInt16
  let uuid: BluetoothUUID
  /// Empty for a descriptor.
  let properties: [Word<CharacteristicProperty>]
  /// The name that the user or the device gives it.
  var name: String?
  /// The format that the user or the device gives its value.
  var format: ValueFormat?
  /// Its service, if it was found in a tree or named.
  private(set) var service: BluetoothUUID?
  /// Its service, and the characteristic of a descriptor.
  fileprivate var above: [BluetoothUUID] = []

  init(
    handle: UInt16, uuid: BluetoothUUID, properties: [Word<CharacteristicProperty>], service: BluetoothUUID? = nil
  ) {
    (self.handle, self.uuid, self.properties, self.service) = (handle, uuid, properties, service)
  }

  fileprivate init(
    _ handle: UInt16, _ uuid: BluetoothUUID, _ properties: [Word<CharacteristicProperty>], above: [BluetoothUUID]
  ) {
    self.init(handle: handle, uuid: uuid, properties: properties)
    (self.above, service) = (above, above.first)
  }

  /// The attribute as one below the attribute that a text names; nil if it is not below that.
  fileprivate func below(_ text: Substring, _ naming: AttributeNaming) -> Attribute? {
    let place = above.firstIndex { uuid in
      Match.allCases.contains { $0.meets(text, uuid, naming.name(of: uuid)) }
    }
    guard let place else { return nil }
    var inner = self
    inner.above = Array(above[(place + 1)...])
    return inner
  }

  /// "Heart Rate Measurement (2A37)", or the bare UUID.
  var title: String { Attribute.title(uuid, named: name) }

  static func title(_ uuid: BluetoothUUID, named name: String? = nil) -> String {
    (name.map(Output.clean) ?? uuid.knownName).map { "\($0) (\(uuid))" } ?? "\(uuid)"
  }

  /// The meaning of one of its values; nil if unknown.
  func meaning(of value: [UInt8]) -> ValueMeaning? { ValueMeaning(of: uuid, value: value, format: format) }

  func has(_ property: CharacteristicProperty) -> Bool { properties.contains(Word(property)) }
}

/// The use of a characteristic.
enum AttributeUse: String {
  case read, write, subscribe

  /// The use that a command makes of a characteristic.
  init?(command: String) {
    switch command {
    case "read": self = .read
    case "write": self = .write
    case "subscribe", "listen": self = .subscribe
    default: return nil
    }
  }

  /// True if its command takes several characteristics, of several devices.
  var takesSeveral: Bool { self != .write }

  /// True if a characteristic with these properties is of that use.
  func fits(_ properties: [Word<CharacteristicProperty>]) -> Bool {
    switch self {
    case .read: properties.contains("read")
    case .write: properties.contains("write") || properties.contains("writeWithoutResponse")
    case .subscribe: properties.contains("notify") || properties.contains("indicate")
    }
  }
}

extension AttributePath {
  /// A characteristic named by its whole UUID, possibly behind its service's and a slash; nil for other texts, also for
  /// 8 digits, which may be the beginning of a UUID.
  init?(_ text: String) {
    // "0x0012" is a handle.
    guard !text.lowercased().hasPrefix("0x") else { return nil }
    let uuids = text.split(separator: "/", omittingEmptySubsequences: false).map {
      $0.utf8.count == 8 ? nil : BluetoothUUID($0)
    }
    switch uuids.count {
    case 1:
      guard let characteristic = uuids[0] else { return nil }
      self = .characteristic(characteristic)
    case 2:
      guard let service = uuids[0], let characteristic = uuids[1] else { return nil }
      self = .characteristic(characteristic, of: service)
    default: return nil
    }
  }
}

extension ServiceDescription {
  /// A characteristic of the service, without the names beside the assigned ones.
  func attribute(_ characteristic: CharacteristicDescription) -> Attribute {
    Attribute(characteristic.handle, characteristic.uuid, characteristic.properties, above: [uuid])
  }
}

extension [ServiceDescription] {
  /// The attribute that a text denotes: a handle ("0x0012"), a UUID or its first digits (at least four), or an assigned
  /// name or its beginning; a UUID or name can follow those of a service, a characteristic or both, with slashes.
  /// Digits behind 0x are a UUID if the device has no attribute with such a handle.
  /// - Parameter naming: Names beside the assigned ones.
  /// - Throws: `Failure` if no attribute matches, or several; with `isUnknownName` if other names may match.
  func attribute(_ text: String, _ naming: AttributeNaming = AttributeNaming()) throws(Failure) -> Attribute {
    var wanted = text[...]
    if text.lowercased().hasPrefix("0x") {
      let digits = text.dropFirst(2)
      guard let handle = UInt16(digits, radix: 16) else { throw Failure("\(text) is not a handle or a UUID") }
      if let attribute = allAttributes(in: self, naming).first(where: { $0.handle == handle }) { return attribute }
      guard digits.utf8.count == 4, flatMap({ $0.characteristics ?? [] }).contains(uuid: BluetoothUUID(digits)) else {
        throw Failure(
          "the device has no attribute with the handle \(handle.handleText); \"services\" shows its attributes")
      }
      wanted = digits
    } else if text.utf8.count != 4, let handle = UInt16(text) {
      throw Failure("\(text) is not a UUID; if you mean the handle, write it in hex: \(handle.handleText)", status: 64)
    }
    let parts = wanted.split(separator: "/", omittingEmptySubsequences: false)
    var all = allAttributes(in: self, naming)
    for part in parts.dropLast() {
      let before = all
      all = all.compactMap { $0.below(part, naming) }
      guard all.isEmpty else { continue }
      let above = before.flatMap(\.above).reduce(into: [BluetoothUUID]()) { if !$0.contains($1) { $0.append($1) } }
      throw Failure(
        "the device has no service or characteristic \(part)" + Suggestion.question(String(part), among: above.words))
    }
    wanted = parts.last ?? ""
    for match in Match.allCases {
      let matches = all.filter { match.meets(wanted, $0.uuid, $0.name) }
      if matches.count > 1 {
        let handles = matches.map { "\($0.handle.handleText)  \($0.title)" }
        throw Failure("\(text) is ambiguous; give the handle of one of these:\n" + handles.joined(separator: "\n"))
      }
      if let match = matches.first { return match }
    }
    throw Failure(
      "the device has no characteristic \(text)"
        + Suggestion.question(
          String(wanted), among: all.map(\.uuid).words + all.compactMap(\.name),
          then: "\"services\" lists its attributes"), isUnknownName: true)
  }
}

/// The ways in which a text names an attribute; the first one that matches counts.
private enum Match: CaseIterable {
  case whole
  case beginning

  /// - Parameter given: A name beside the assigned one.
  func meets(_ text: Substring, _ uuid: BluetoothUUID, _ given: String?) -> Bool {
    let wanted = text.lowercased()
    let names = [uuid.knownName, given].compactMap { $0?.lowercased() }
    switch self {
    case .whole: return BluetoothUUID(text) == uuid || names.contains(wanted)
    case .beginning:
      return names.contains { $0.hasPrefix(wanted) }
        || wanted.utf8.count >= 4 && "\(uuid)".lowercased().hasPrefix(wanted)
    }
  }
}

extension [CharacteristicDescription] {
  fileprivate func contains(uuid: BluetoothUUID?) -> Bool { contains { $0.uuid == uuid } }
}

extension [BluetoothUUID] {
  /// The words that name them.
  fileprivate var words: [String] { flatMap { [$0.knownName, "\($0)"] }.compactMap { $0 } }
}

/// Characteristics, then descriptors.
private func allAttributes(in services: [ServiceDescription], _ naming: AttributeNaming) -> [Attribute] {
  var (characteristics, descriptors): ([Attribute], [Attribute]) = ([], [])
  for service in services {
    for characteristic in service.characteristics ?? [] {
      characteristics.append(service.attribute(characteristic))
      descriptors += (characteristic.descriptors ?? []).map {
        Attribute($0.handle, $0.uuid, [], above: [service.uuid, characteristic.uuid])
      }
    }
  }
  return (characteristics + descriptors).map { attribute in
    var named = attribute
    named.name = naming.name(of: attribute.uuid, in: attribute.service, handle: attribute.handle)
    return named
  }
}
