import Bluetooth
import BluetoothCrypto

/// An image for MCUboot: its header, and the hash in its trailer (MCUboot, Design, Image Format).
public struct FirmwareImage: Hashable, Sendable {
  /// The version in the header.
  public struct Version: Hashable, Sendable, CustomStringConvertible {
    /// The first number.
    public var major: UInt8
    /// The second.
    public var minor: UInt8
    /// The third.
    public var revision: UInt16
    /// The number of the build; 0 for none.
    public var build: UInt32

    /// Makes a version.
    public init(major: UInt8, minor: UInt8, revision: UInt16, build: UInt32) {
      (self.major, self.minor, self.revision, self.build) = (major, minor, revision, build)
    }

    /// "1.2.3", or with a build number "1.2.3.4", as devices report it.
    public var description: String { "\(major).\(minor).\(revision)" + (build == 0 ? "" : ".\(build)") }
  }

  /// The reason why a file is no image.
  public struct Fault: Error, Hashable, Sendable, CustomStringConvertible {
    /// The fault, and its remedy where there is one.
    public let description: String
  }

  private static let magic: UInt64 = 0x96F3_B83D
  private static let trailerMagic: UInt16 = 0x6907
  private static let protectedMagic: UInt16 = 0x6908
  private static let headerLength = 32
  /// The flags of an image that is encrypted with AES-128 or AES-256.
  private static let encrypted: UInt32 = 0x0C
  /// The types of hashes in the trailer: SHA-256, SHA-384, SHA-512.
  private static let hashTypes: Set<UInt16> = [0x10, 0x11, 0x12]
  private static let signatureTypes: Set<UInt16> = [0x20, 0x21, 0x22, 0x23, 0x24]

  /// The version.
  public let version: Version
  /// The hash in the trailer, the name of the image on the device.
  public let hash: [UInt8]
  /// True if the trailer has a signature. Only the device can check it.
  public let isSigned: Bool
  /// The SHA-256 hash of the whole file.
  public let fileHash: [UInt8]
  /// The octets of the file.
  public let octets: [UInt8]

  /// Reads an image, and compares its SHA-256 hash with its contents; an encrypted image was hashed before.
  /// - Throws: `Fault` with the reason.
  public init(_ octets: [UInt8]) throws(Fault) {
    var header = OctetReader(Array(octets.prefix(Self.headerLength)))
    guard header.unsigned(4) == Self.magic else {
      throw Fault(description: "this is no image for MCUboot: its first octets are not 3d b8 f3 96")
    }
    guard header.uint32() != nil, let headerSize = header.uint16(), let protectedSize = header.uint16(),
      let imageSize = header.uint32(), let flags = header.uint32(), let major = header.uint8(),
      let minor = header.uint8(), let revision = header.uint16(), let build = header.uint32()
    else { throw Fault(description: "the image ends within its header") }
    version = Version(major: major, minor: minor, revision: revision, build: build)
    guard Int(headerSize) >= Self.headerLength else {
      throw Fault(description: "the image's header names \(headerSize) octets for itself, and has at least 32")
    }
    let end = Int(headerSize) + Int(imageSize)
    guard end <= octets.count else {
      throw Fault(description: "the image has \(octets.count) octets, and its header says \(end): it is cut off")
    }
    var rest = octets[end...]
    if protectedSize > 0 {
      guard let entries = Self.trailer(rest, Self.protectedMagic), entries.length == Int(protectedSize) else {
        throw Fault(description: "the protected part of the image's trailer is damaged")
      }
      rest = rest.dropFirst(entries.length)
    }
    guard let trailer = Self.trailer(rest, Self.trailerMagic) else {
      throw Fault(description: "the image has no trailer: sign it with imgtool, and give the .signed.bin")
    }
    let hashes = trailer.entries.filter { Self.hashTypes.contains($0.type) }
    guard let found = hashes.first, hashes.count == 1 else {
      throw Fault(description: "the image's trailer has \(hashes.count) hashes instead of one")
    }
    hash = found.value
    let isEncrypted = flags & Self.encrypted != 0
    if found.type == 0x10, !isEncrypted, SHA256.hash(octets[..<(end + Int(protectedSize))]) != found.value {
      throw Fault(description: "the image is damaged: its hash is not that of its contents")
    }
    isSigned = trailer.entries.contains { Self.signatureTypes.contains($0.type) }
    fileHash = SHA256.hash(octets)
    self.octets = octets
  }

  private typealias Entry = (type: UInt16, value: [UInt8])

  /// The entries of a part of the trailer; nil if they are damaged.
  private static func trailer(_ octets: ArraySlice<UInt8>, _ magic: UInt16) -> (entries: [Entry], length: Int)? {
    var head = OctetReader(Array(octets.prefix(4)))
    guard head.uint16() == magic, let length = head.uint16(), length >= 4, Int(length) <= octets.count else {
      return nil
    }
    var reader = OctetReader(Array(octets.prefix(Int(length)).dropFirst(4)))
    var entries: [Entry] = []
    while !reader.isAtEnd {
      guard let type = reader.uint16(), let count = reader.uint16(), let value = reader.octets(Int(count)) else {
        return nil
      }
      entries.append((type, value))
    }
    return (entries, Int(length))
  }
}
