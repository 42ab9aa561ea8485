import BledRPC
import Bluetooth

/// A characteristic or descriptor that a command works on.
struct Attribute {
  let handle: UInt16
  let uuid: BluetoothUUID
  /// Empty for a descriptor.
  let properties: [String]

  /// "Heart Rate Measurement (2A37)", or the bare UUID.
  var title: String { Attribute.title(uuid) }

  static func title(_ uuid: BluetoothUUID) -> String { uuid.assignedName.map { "\($0) (\(uuid))" } ?? "\(uuid)" }

  func has(_ property: String) -> Bool { properties.contains(property) }
}

extension AttributePath {
  /// A characteristic that a text names by its UUID, possibly behind that of its service and a slash; nil for other
  /// texts.
  init?(_ text: String) {
    // "0x0012" is a handle.
    guard !text.lowercased().hasPrefix("0x") else { return nil }
    let uuids = text.split(separator: "/", omittingEmptySubsequences: false).map { BluetoothUUID($0) }
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

extension [ServiceDescription] {
  /// The attribute that a text denotes: a handle ("0x0012"), a UUID, or an assigned name or its beginning; a UUID or
  /// name can follow a service and a slash.
  /// - Throws: `Failure` if no attribute matches, or several.
  func attribute(_ text: String) throws -> Attribute {
    if text.lowercased().hasPrefix("0x") {
      guard let handle = UInt16(text.dropFirst(2), radix: 16) else { throw Failure("\(text) is not a handle") }
      return allAttributes(in: self).first { $0.handle == handle } ?? Attribute(handle: handle, uuid: 0, properties: [])
    }
    var (services, wanted) = (self, text[...])
    if let slash = text.firstIndex(of: "/") {
      let service = text[..<slash]
      services = filter { Self.meets(service, $0.uuid, exactly: false) }
      wanted = text[text.index(after: slash)...]
      guard !services.isEmpty else { throw Failure("the device has no service \(service)") }
    }
    for exactly in [true, false] {
      let matches = allAttributes(in: services).filter { Self.meets(wanted, $0.uuid, exactly: exactly) }
      if matches.count > 1 {
        let handles = matches.map { "\(handleText($0.handle))  \($0.title)" }
        throw Failure("\(text) is ambiguous; give the handle of one of these:\n" + handles.joined(separator: "\n"))
      }
      if let match = matches.first { return match }
    }
    throw Failure("the device has no characteristic \(text); \"services\" shows what it has")
  }

  private static func meets(_ text: Substring, _ uuid: BluetoothUUID, exactly: Bool) -> Bool {
    if let wanted = BluetoothUUID(text) { return wanted == uuid }
    guard let name = uuid.assignedName?.lowercased() else { return false }
    return exactly ? name == text.lowercased() : name.hasPrefix(text.lowercased())
  }
}

private func allAttributes(in services: [ServiceDescription]) -> [Attribute] {
  let characteristics = services.flatMap { $0.characteristics ?? [] }
  let descriptors = characteristics.flatMap { $0.descriptors ?? [] }
  return characteristics.map { Attribute(handle: $0.handle, uuid: $0.uuid, properties: $0.properties) }
    + descriptors.map { Attribute(handle: $0.handle, uuid: $0.uuid, properties: []) }
}

/// "0x0012"
func handleText(_ handle: UInt16) -> String {
  let digits = String(handle, radix: 16)
  return "0x" + String(repeating: "0", count: 4 - digits.count) + digits
}
