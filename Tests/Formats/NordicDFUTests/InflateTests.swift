import Bluetooth
import Testing

@testable import NordicDFU

/// Data that zlib has compressed.
@Suite struct InflateTests {
  static let blocks: [(String, [UInt8])] = [
    ("f348cdc9c9d751c8c0a41401", Array("Hello, hello, hello, hello!".utf8)),
    ("010300fcff616263", Array("abc".utf8)),
    (
      """
      edcfd18201211840e124fc084908e197c16090843078ad7dfcdd7d83bdd93bdf7982430829d0222b438db764571b4cd29dbfe6149a6a64d7\
      2e121003bb0d2f9066e59fa0308b2539cdeed04b4eb48d8e083cd24e728161f6968bc831c0d8578c8749a8db9b48897655fb507bb079df37\
      5286b93ecb03dfc092cde98ce04f333a674bd8f0833ceb1c59daf0fddcc25e3d6cd569928a9bad87097853f16308c8e342beb3215c920e3d\
      a2200edbf494f4e09e4d652966a8e0e95746c22b6ced4000896e6d47aa0934bffa5d9aa0d15dd9e23528b3222d905f9fff7ff8fffaf8b36f
      """,
      (0..<600).map { UInt8((($0 * $0) >> 3) & 0x3F) } + [UInt8](repeating: 0x78, count: 300)
    ),
  ]

  @Test("stored blocks, blocks with fixed codes, and with codes of their own", arguments: blocks)
  func decompression(hex: String, octets: [UInt8]) throws {
    let packed = try #require(Hex.decode(hex))
    #expect(try Inflate.decompress(packed, limit: octets.count) == octets)
    #expect(throws: Inflate.Fault.self) { try Inflate.decompress(packed, limit: octets.count - 1) }
    for count in 0..<packed.count {
      #expect(throws: Inflate.Fault.self) { try Inflate.decompress(Array(packed[..<count]), limit: 65536) }
    }
  }

  @Test(
    "blocks that are none",
    arguments: [
      "07", "ff", "010300fdff616263", "4b04128000",
      // More codes than their lengths allow.
      "05e0ffffffffffffffffffffffffffff",
    ])
  func faults(hex: String) throws {
    #expect(throws: Inflate.Fault.self) { try Inflate.decompress(try #require(Hex.decode(hex)), limit: 65536) }
  }
}
