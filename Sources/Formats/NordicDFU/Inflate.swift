/// Reads compressed data in the DEFLATE format (RFC 1951).
struct Inflate {
  /// The reason why data cannot be read.
  struct Fault: Error, Hashable {}

  /// The codes of a block, by their lengths (RFC 1951, 3.2.2).
  private struct Codes {
    static let longest = 15

    /// The number of codes of each length.
    private(set) var counts = [Int](repeating: 0, count: longest + 1)
    /// The symbols in the order of their codes.
    private(set) var symbols: [Int] = []

    /// - Throws: `Fault` if there are more codes than their lengths allow.
    init(_ lengths: ArraySlice<UInt8>) throws(Fault) {
      for length in lengths where length > 0 { counts[Int(length)] += 1 }
      var free = 1
      for length in 1...Self.longest {
        free = free * 2 - counts[length]
        guard free >= 0 else { throw Fault() }
      }
      let used = lengths.enumerated().filter { $0.element > 0 }
      symbols = used.sorted { ($0.element, $0.offset) < ($1.element, $1.offset) }.map(\.offset)
    }
  }

  /// The least length or distance of a symbol, and the bits that are added (RFC 1951, 3.2.5).
  private static let lengths: [(base: Int, bits: Int)] = bases(from: 3, of: 28, grouped: 4) + [(258, 0)]
  private static let distances: [(base: Int, bits: Int)] = bases(from: 1, of: 30, grouped: 2)
  /// The order of the lengths of codes for lengths (RFC 1951, 3.2.7).
  private static let order = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15]

  private static func bases(from first: Int, of count: Int, grouped: Int) -> [(base: Int, bits: Int)] {
    var base = first
    return (0..<count).map { index in
      let bits = max(index / grouped - 1, 0)
      defer { base += 1 << bits }
      return (base, bits)
    }
  }

  private let octets: [UInt8]
  private let limit: Int
  private var place = 0
  private var bits = 0
  private var bitCount = 0
  private var output: [UInt8] = []

  private init(_ octets: [UInt8], limit: Int) { (self.octets, self.limit) = (octets, limit) }

  /// Decompresses data.
  /// - Parameters:
  ///   - octets: The compressed data, all blocks.
  ///   - limit: The maximum of octets in the result.
  /// - Throws: `Fault` if the data is damaged, or has more octets.
  static func decompress(_ octets: [UInt8], limit: Int) throws(Fault) -> [UInt8] {
    var inflate = Inflate(octets, limit: limit)
    var isLast = false
    while !isLast {
      isLast = try inflate.take(1) == 1
      switch try inflate.take(2) {
      case 0: try inflate.readStored()
      case 1:
        guard let fixed else { throw Fault() }
        try inflate.readBlock(fixed)
      case 2: try inflate.readBlock(try inflate.readCodes())
      default: throw Fault()
      }
    }
    return inflate.output
  }

  // MARK: - Blocks

  private mutating func readStored() throws(Fault) {
    // The block begins at an octet.
    (bits, bitCount) = (0, 0)
    let (count, complement) = (try take(16), try take(16))
    guard count == ~complement & 0xFFFF, place + count <= octets.count, output.count + count <= limit else {
      throw Fault()
    }
    output += octets[place..<(place + count)]
    place += count
  }

  /// The codes of blocks that have none of their own (RFC 1951, 3.2.6).
  private static let fixed = try? fixedCodes()

  private static func fixedCodes() throws(Fault) -> (literals: Codes, distances: Codes) {
    let literals = (0..<288).map { index -> UInt8 in
      switch index {
      case ..<144: 8
      case ..<256: 9
      case ..<280: 7
      default: 8
      }
    }
    return (try Codes(literals[...]), try Codes([UInt8](repeating: 5, count: 30)[...]))
  }

  private mutating func readCodes() throws(Fault) -> (literals: Codes, distances: Codes) {
    let (literals, distances, count) = (try take(5) + 257, try take(5) + 1, try take(4) + 4)
    guard literals <= 286, distances <= 30 else { throw Fault() }
    var short = [UInt8](repeating: 0, count: Self.order.count)
    for index in Self.order.prefix(count) { short[index] = UInt8(truncatingIfNeeded: try take(3)) }
    let codes = try Codes(short[...])
    var lengths: [UInt8] = []
    while lengths.count < literals + distances {
      let symbol = try symbol(codes)
      switch symbol {
      case ..<16: lengths.append(UInt8(truncatingIfNeeded: symbol))
      case 16:
        guard let last = lengths.last else { throw Fault() }
        lengths += [UInt8](repeating: last, count: try take(2) + 3)
      case 17: lengths += [UInt8](repeating: 0, count: try take(3) + 3)
      default: lengths += [UInt8](repeating: 0, count: try take(7) + 11)
      }
    }
    guard lengths.count == literals + distances, lengths[256] > 0 else { throw Fault() }
    return (try Codes(lengths[..<literals]), try Codes(lengths[literals...]))
  }

  private mutating func readBlock(_ codes: (literals: Codes, distances: Codes)) throws(Fault) {
    while true {
      let symbol = try symbol(codes.literals)
      switch symbol {
      case ..<256:
        guard output.count < limit else { throw Fault() }
        output.append(UInt8(truncatingIfNeeded: symbol))
      case 256: return
      default:
        let length = try number(symbol - 257, Self.lengths)
        let distance = try number(try self.symbol(codes.distances), Self.distances)
        guard distance <= output.count, output.count + length <= limit else { throw Fault() }
        // The copy may overlap itself.
        for _ in 0..<length { output.append(output[output.count - distance]) }
      }
    }
  }

  private mutating func number(_ symbol: Int, _ table: [(base: Int, bits: Int)]) throws(Fault) -> Int {
    guard table.indices.contains(symbol) else { throw Fault() }
    return table[symbol].base + (try take(table[symbol].bits))
  }

  // MARK: - Bits

  /// The next bits, at most 16, the first one as the least significant.
  private mutating func take(_ count: Int) throws(Fault) -> Int {
    while bitCount < count {
      guard place < octets.count else { throw Fault() }
      bits |= Int(octets[place]) << bitCount
      (place, bitCount) = (place + 1, bitCount + 8)
    }
    defer { (bits, bitCount) = (bits >> count, bitCount - count) }
    return bits & (1 << count - 1)
  }

  private mutating func symbol(_ codes: Codes) throws(Fault) -> Int {
    var (code, first, index) = (0, 0, 0)
    for length in 1...Codes.longest {
      code |= try take(1)
      let count = codes.counts[length]
      if code - first < count { return codes.symbols[index + code - first] }
      index += count
      first = (first + count) << 1
      code <<= 1
    }
    throw Fault()
  }
}
