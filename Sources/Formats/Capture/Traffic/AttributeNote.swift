import Bluetooth

/// A note by the daemon with attributes of a device that it knows from earlier links: their discovery is not in the
/// recording, and Wireshark shows their handles without types. Its text is "attributes of C0:DE:00:00:00:01 random:
/// 0x000C service 180D Heart Rate, 0x000E 2A37 Heart Rate Measurement, 0x000F descriptor 2902".
public struct AttributeNote: Hashable, Sendable {
  /// An attribute.
  public struct Attribute: Hashable, Sendable {
    /// The kinds of attributes; the raw value is their word in the text.
    public enum Kind: String, CaseIterable, Sendable {
      /// The declaration of a service.
      case service
      /// The value of a characteristic.
      case value = ""
      /// A descriptor of the value before it.
      case descriptor
    }

    /// Its handle; for a service the first one.
    public var handle: UInt16
    /// Its type; for a service the service's UUID.
    public var uuid: BluetoothUUID
    /// Its kind.
    public var kind: Kind

    /// Describes an attribute.
    public init(handle: UInt16, uuid: BluetoothUUID, kind: Kind = .value) {
      (self.handle, self.uuid, self.kind) = (handle, uuid, kind)
    }
  }

  /// The device.
  public var peer: DeviceAddress
  /// Its attributes, or some of them.
  public var attributes: [Attribute]

  private static let beginning = "attributes of "

  /// Describes attributes of a device.
  public init(peer: DeviceAddress, attributes: [Attribute]) { (self.peer, self.attributes) = (peer, attributes) }

  /// The note's text.
  public var text: String {
    "\(Self.beginning)\(peer) \(peer.kind.word): " + attributes.map(\.text).joined(separator: ", ")
  }

  /// As many notes as the attributes need: a note has a greatest length.
  public var parts: [AttributeNote] {
    var parts: [AttributeNote] = []
    var current = AttributeNote(peer: peer, attributes: [])
    for attribute in attributes {
      var longer = current
      longer.attributes.append(attribute)
      if longer.text.utf8.count > CaptureWriter.longestComment, !current.attributes.isEmpty {
        parts.append(current)
        longer.attributes = [attribute]
      }
      current = longer
    }
    return current.attributes.isEmpty ? parts : parts + [current]
  }

  /// Reads a note's text; nil if it is another one.
  public init?(_ text: String) {
    guard text.hasPrefix(Self.beginning), let colon = text.firstRange(of: ": ") else { return nil }
    let words = text[..<colon.lowerBound].dropFirst(Self.beginning.count).split(separator: " ")
    guard words.count == 2, let kind = DeviceAddress.Kind(word: String(words[1])),
      let peer = DeviceAddress(words[0], kind: kind)
    else { return nil }
    // A name may have a comma.
    let list = text[colon.upperBound...].split(separator: ", 0x").compactMap { Attribute($0) }
    self.init(peer: peer, attributes: list)
  }
}

extension AttributeNote.Attribute {
  fileprivate var text: String {
    let digits = String(handle, radix: 16, uppercase: true)
    let place = "0x" + String(repeating: "0", count: 4 - digits.count) + digits
    let words = [place, kind.rawValue, "\(uuid)", uuid.knownName ?? ""]
    return words.filter { !$0.isEmpty }.joined(separator: " ")
  }

  /// - Parameter text: With or without the 0x of its handle.
  fileprivate init?(_ text: Substring) {
    let words = text.split(separator: " ", maxSplits: 3)
    guard words.count >= 2, let handle = UInt16(words[0].hasPrefix("0x") ? words[0].dropFirst(2) : words[0], radix: 16)
    else { return nil }
    // A recording of an earlier release has no word for descriptors.
    let kind = Kind.allCases.first { $0 != .value && words[1].utf8.elementsEqual($0.rawValue.utf8) } ?? .value
    guard words.count > (kind == .value ? 1 : 2), let uuid = BluetoothUUID(words[kind == .value ? 1 : 2]) else {
      return nil
    }
    self.init(handle: handle, uuid: uuid, kind: kind)
  }
}
