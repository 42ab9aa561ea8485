/// The octets of one input, taken from the front as decisions and as data. Behind the end all are zero.
public struct FuzzInput {
  private var rest: ArraySlice<UInt8>

  /// Begins at the first octet.
  public init(_ octets: [UInt8]) { rest = octets[...] }

  /// True when everything was taken.
  public var isEmpty: Bool { rest.isEmpty }

  /// One octet.
  public mutating func octet() -> UInt8 { rest.popFirst() ?? 0 }

  /// Two octets, the low one first.
  public mutating func word() -> UInt16 { UInt16(octet()) | UInt16(octet()) << 8 }

  /// A number from 0 to `bound` − 1, of one octet.
  public mutating func number(below bound: Int) -> Int { Int(octet()) % bound }

  /// Up to `count` octets.
  public mutating func octets(_ count: Int) -> [UInt8] {
    defer { rest = rest.dropFirst(count) }
    return Array(rest.prefix(count))
  }

  /// A packet: an octet with its length and then its octets.
  public mutating func packet() -> [UInt8] { octets(Int(octet())) }

  /// A value of up to 600 octets that takes three octets of input.
  public mutating func filler() -> [UInt8] { [UInt8](repeating: octet(), count: Int(word()) % 601) }

  /// Everything that is left, as text in which octet 1 repeats what follows it: an octet with how many octets, and an
  /// octet with how often, in 64s. So a short input becomes a long text.
  public mutating func expanded(to limit: Int) -> [UInt8] {
    var text: [UInt8] = []
    while !isEmpty, text.count < limit {
      let octet = octet()
      guard octet == 1 else {
        text.append(octet)
        continue
      }
      let count = Int(self.octet())
      let times = Int(self.octet()) * 64
      let piece = octets(count)
      guard times > 0, !piece.isEmpty, text.count + piece.count <= limit else { continue }
      let length = piece.count * min(times, (limit - text.count) / piece.count)
      // The block is doubled: piece by piece takes longer than the target does.
      var block = piece
      while block.count < length { block += block.prefix(length - block.count) }
      text += block
    }
    return text
  }

  /// Everything that is left.
  public mutating func remainder() -> [UInt8] { octets(rest.count) }
}
