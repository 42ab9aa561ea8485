import Bluetooth

/// The files in a zip archive (PKWARE, APPNOTE.TXT), stored or compressed with DEFLATE, as packages have them: neither
/// encrypted, nor with the additions for archives of 4 GiB.
struct ZipArchive {
  /// The reason why an archive cannot be read.
  struct Fault: Error, Hashable, CustomStringConvertible {
    let description: String
  }

  private struct Entry {
    let name: [UInt8]
    let flags: UInt16
    let method: UInt16
    let checksum: UInt32
    let packed: Int
    let length: Int
    /// The place of its local header.
    let place: Int
  }

  /// The maximum of files.
  private static let mostEntries = 256
  /// The maximum length of one file.
  private static let longest = 16 << 20
  private static let endMagic: UInt32 = 0x0605_4B50
  private static let entryMagic: UInt32 = 0x0201_4B50
  private static let localMagic: UInt32 = 0x0403_4B50
  private static let endLength = 22
  private static let localLength = 30

  private let octets: [UInt8]
  private var entries: [Entry] = []

  /// Reads the directory at the end of an archive (4.3.12, 4.3.16).
  /// - Throws: `Fault` without one.
  init(_ octets: [UInt8]) throws(Fault) {
    self.octets = octets
    guard let end = Self.end(of: octets) else {
      throw Fault(description: "this is no zip archive, or its end is missing: copy it again")
    }
    guard end.count <= Self.mostEntries, end.place <= octets.count else {
      throw Fault(description: "the directory of the zip archive is damaged")
    }
    var reader = OctetReader(Array(octets[end.place...]))
    for _ in 0..<end.count {
      guard let entry = Self.entry(&reader) else {
        throw Fault(description: "the directory of the zip archive is damaged")
      }
      entries.append(entry)
    }
  }

  /// The contents of a file.
  /// - Parameter limit: The maximum of octets, in the archive and outside of it.
  /// - Throws: `Fault` if there is none of this name, or it is longer or damaged.
  func file(_ name: String, limit: Int = longest) throws(Fault) -> [UInt8] {
    guard let entry = entries.first(where: { $0.name == Array(name.utf8) }) else {
      throw Fault(description: "the package has no file \(name)")
    }
    guard entry.flags & 1 == 0 else { throw Fault(description: "\(name) is encrypted in the zip archive") }
    guard entry.length <= limit, entry.packed <= limit else {
      throw Fault(description: "\(name) is longer than \(limit >> 10) KiB")
    }
    let damage = Fault(description: "\(name) is damaged in the zip archive: copy the package again")
    guard entry.place + Self.localLength <= octets.count else { throw damage }
    var local = OctetReader(Array(octets[entry.place..<(entry.place + Self.localLength)]))
    // The directory repeats the rest.
    guard local.uint32() == Self.localMagic, local.octets(22) != nil, let name = local.uint16(),
      let extra = local.uint16()
    else { throw damage }
    let start = entry.place + Self.localLength + Int(name) + Int(extra)
    guard start + entry.packed <= octets.count else { throw damage }
    let packed = Array(octets[start..<(start + entry.packed)])
    let contents: [UInt8]
    switch entry.method {
    case 0: contents = packed
    case 8:
      do throws(Inflate.Fault) {
        contents = try Inflate.decompress(packed, limit: entry.length)
      } catch {
        throw damage
      }
    default: throw Fault(description: "a file of the zip archive is compressed in the way \(entry.method): use Deflate")
    }
    var checksum = CRC32()
    checksum.add(contents)
    guard contents.count == entry.length, checksum.value == entry.checksum else { throw damage }
    return contents
  }

  /// The number of files, and the place of the directory, in the record at the end.
  private static func end(of octets: [UInt8]) -> (count: Int, place: Int)? {
    guard octets.count >= endLength else { return nil }
    // A comment of up to 65,535 octets may follow it.
    let last = octets.count - endLength
    for place in stride(from: last, through: max(last - 0xFFFF, 0), by: -1) where octets[place] == 0x50 {
      var reader = OctetReader(Array(octets[place..<(place + endLength)]))
      guard reader.uint32() == endMagic, reader.octets(6) != nil, let count = reader.uint16(), reader.uint32() != nil,
        let start = reader.uint32(), let comment = reader.uint16(), place + endLength + Int(comment) == octets.count
      else { continue }
      return (Int(count), Int(start))
    }
    return nil
  }

  private static func entry(_ reader: inout OctetReader) -> Entry? {
    guard reader.uint32() == entryMagic, reader.octets(4) != nil, let flags = reader.uint16(),
      let method = reader.uint16(), reader.octets(4) != nil, let checksum = reader.uint32(),
      let packed = reader.uint32(), let length = reader.uint32(), let nameLength = reader.uint16(),
      let extra = reader.uint16(), let comment = reader.uint16(), reader.octets(8) != nil,
      let place = reader.uint32(), let name = reader.octets(Int(nameLength)),
      reader.octets(Int(extra) + Int(comment)) != nil
    else { return nil }
    return Entry(
      name: name, flags: flags, method: method, checksum: checksum, packed: Int(packed), length: Int(length),
      place: Int(place))
  }
}
