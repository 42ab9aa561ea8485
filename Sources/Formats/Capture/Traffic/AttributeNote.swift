import Bluetooth

/// A note by the daemon with attributes of a device that it knows from earlier links: their discovery is not in the
/// recording, and Wireshark shows their handles without types. Its text is "attributes of C0:DE:00:00:00:01 random:
/// 0x000C service 180D Heart Rate, 0x000E 2A37 Heart Rate Measurement".
public struct AttributeNote: Hashable, Sendable {
  /// An attribute.
  public struct Attribute: Hashable, Sendable {
    /// Its handle; for a service the first one.
    public var handle: UInt16
    /// Its type; for a service the service's UUID.
    public var uuid: BluetoothUUID
    /// True for the declaration of a service.
    public var isService: Bool

    /// Describes an attribute.
    public init(handle: UInt16, uuid: BluetoothUUID, isService: Bool = false) {
      (self.handle, self.uuid, self.isService) = (handle, uuid, isService)
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
    return [place, isService ? "service" : nil, "\(uuid)", uuid.knownName].compactMap { $0 }.joined(separator: " ")
  }

  /// - Parameter text: With or without the 0x of its handle.
  fileprivate init?(_ text: Substring) {
    let words = text.split(separator: " ", maxSplits: 3)
    guard words.count >= 2, let handle = UInt16(words[0].hasPrefix("0x") ? words[0].dropFirst(2) : words[0], radix: 16)
    else { return nil }
    let isService = words[1] == "service"
    guard words.count > (isService ? 2 : 1), let uuid = BluetoothUUID(words[isService ? 2 : 1]) else { return nil }
    self.init(handle: handle, uuid: uuid, isService: isService)
  }
}
