/// AD data that refers to something else: a URI, a broadcast, a set of devices, other transports, encrypted data (CSS,
/// Part A, 1.18, 1.22 and 1.23; Core 5.4, Vol 3, Part C, 12.6; CSIS 1.0, 4.8).
extension AdvertisingData {
  /// The identifier of a coordinated set, for devices that know the set's key.
  public struct ResolvableSetIdentifier: Hashable, Sendable {
    /// The lower 24 bits: what `sih` makes of the upper.
    public var hash: UInt32
    /// The upper 24 bits, random.
    public var random: UInt32

    /// Makes an identifier from its halves; only their low 24 bits are used.
    public init(hash: UInt32, random: UInt32) {
      self.hash = hash
      self.random = random
    }
  }

  /// Data that only those who read the key over an encrypted link can open.
  public struct EncryptedData: Hashable, Sendable {
    /// 5 octets.
    public var randomizer: [UInt8]
    /// AD structures, encrypted.
    public var payload: [UInt8]
    /// The message integrity check, 4 octets.
    public var check: [UInt8]

    /// Reads the octets of the packet.
    /// - Returns: nil for less than nine.
    public init?(octets: [UInt8]) {
      guard octets.count >= 9 else { return nil }
      randomizer = Array(octets.prefix(5))
      payload = Array(octets.dropFirst(5).dropLast(4))
      check = Array(octets.suffix(4))
    }

    /// The octets of the packet.
    public var octets: [UInt8] { randomizer + payload + check }
  }

  /// One block of Transport Discovery Data.
  public struct TransportBlock: Hashable, Sendable {
    /// The organisation that defines the rest; 1 is the Bluetooth SIG.
    public var organization: UInt8
    /// Role, state and whether the data goes on.
    public var flags: UInt8
    /// Data of that organisation, at most 255 octets.
    public var data: [UInt8]

    /// Makes a block.
    public init(organization: UInt8, flags: UInt8, data: [UInt8]) {
      self.organization = organization
      self.flags = flags
      self.data = data
    }
  }

  /// The URI in full; nil if it is none or its scheme is a code point that is not known here.
  public var uri: String? {
    guard let octets = first(.uri), let text = String(validating: octets, as: UTF8.self),
      let code = text.unicodeScalars.first
    else { return nil }
    guard let scheme = Self.uriSchemes.first(where: { $0.code == code })?.name else { return nil }
    return scheme + text.unicodeScalars.dropFirst().reduce(into: "") { $0.unicodeScalars.append($1) }
  }

  /// The name of a broadcast.
  public var broadcastName: String? { first(.broadcastName).flatMap { Self.text($0) } }

  /// The identifier of the coordinated set of which the device is a member.
  public var resolvableSetIdentifier: ResolvableSetIdentifier? {
    read(.resolvableSetIdentifier) { reader in
      guard let hash = reader.uint24(), let random = reader.uint24() else { return nil }
      return ResolvableSetIdentifier(hash: hash, random: random)
    }
  }

  /// Encrypted AD structures.
  public var encryptedData: EncryptedData? { first(.encryptedData).flatMap(EncryptedData.init(octets:)) }

  /// The transports that the device offers; a block that is longer than the rest ends them.
  public var transports: [TransportBlock] {
    var blocks: [TransportBlock] = []
    var rest = (first(.transportDiscovery) ?? [])[...]
    while let organization = rest.popFirst(), let flags = rest.popFirst(), let length = rest.popFirst() {
      guard rest.count >= length else { break }
      blocks.append(TransportBlock(organization: organization, flags: flags, data: Array(rest.prefix(Int(length)))))
      rest = rest.dropFirst(Int(length))
    }
    return blocks
  }

  /// Schemes with a code point of their own (Assigned Numbers, 2.7); the first stands for all others.
  private static let uriSchemes: [(code: Unicode.Scalar, name: String)] = [
    ("\u{01}", ""), ("\u{16}", "http:"), ("\u{17}", "https:"),
  ]
}

extension AdvertisingData.Structure {
  /// A structure of a URI; a scheme that has a code point is written as that.
  public static func uri(_ uri: String) -> Self {
    let scheme = AdvertisingData.uriSchemes.last { uri.utf8.starts(with: $0.name.utf8) }
    guard let scheme else { return Self(.uri, Array(uri.utf8)) }
    return Self(.uri, Array(String(scheme.code).utf8) + uri.utf8.dropFirst(scheme.name.utf8.count))
  }

  /// A structure of a broadcast's name, 4 to 32 characters.
  public static func broadcastName(_ name: String) -> Self { Self(.broadcastName, Array(name.utf8)) }

  /// A structure of what a member of a coordinated set shows.
  public static func resolvableSetIdentifier(_ identifier: AdvertisingData.ResolvableSetIdentifier) -> Self {
    let octets = identifier.hash.littleEndianOctets(3) + identifier.random.littleEndianOctets(3)
    return Self(.resolvableSetIdentifier, octets)
  }

  /// A structure of encrypted AD structures.
  public static func encryptedData(_ data: AdvertisingData.EncryptedData) -> Self { Self(.encryptedData, data.octets) }

  /// A structure of the transports that the device offers; data of a block beyond 255 octets is cut off.
  public static func transports(_ blocks: [AdvertisingData.TransportBlock]) -> Self {
    Self(
      .transportDiscovery,
      blocks.flatMap { block in
        let data = block.data.prefix(255)
        return [block.organization, block.flags, UInt8(data.count)] + data
      })
  }
}
