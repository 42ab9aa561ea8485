import Bluetooth
import BluetoothCrypto
import Testing

/// AES-CCM with the vectors of its definition and of protocols that use it.
@Suite struct AESCCMTests {
  struct Vector: Sendable, CustomTestStringConvertible {
    let name: String
    let key: String
    let nonce: String
    let associated: String
    let message: String
    let payload: String
    let check: String
    var testDescription: String { name }
  }

  private static let vectors = [
    Vector(
      name: "RFC 3610, packet vector 1", key: "c0c1c2c3c4c5c6c7c8c9cacbcccdcecf", nonce: "00000003020100a0a1a2a3a4a5",
      associated: "0001020304050607", message: "08090a0b0c0d0e0f101112131415161718191a1b1c1d1e",
      payload: "588c979a61c663d2f066d0c2c0f989806d5f6b61dac384", check: "17e8d12cfdf926e0"),
    Vector(
      name: "RFC 3610, packet vector 2", key: "c0c1c2c3c4c5c6c7c8c9cacbcccdcecf", nonce: "00000004030201a0a1a2a3a4a5",
      associated: "0001020304050607", message: "08090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f",
      payload: "72c91a36e135f8cf291ca894085c87e3cc15c439c9e43a3b", check: "a091d56e10400916"),
    Vector(
      name: "RFC 3610, packet vector 12", key: "c0c1c2c3c4c5c6c7c8c9cacbcccdcecf", nonce: "0000000e0d0c0ba0a1a2a3a4a5",
      associated: "000102030405060708090a0b", message: "0c0d0e0f101112131415161718191a1b1c1d1e1f20",
      payload: "c0ffa0d6f05bdb67f24d43a4338d2aa4bed7b20e43", check: "cd1aa31662e7ad65d6db"),
    Vector(
      name: "NIST, without a message and with much associated data", key: "2ebf60f0969013a54a3dedb19d20f6c8",
      nonce: "1de8c5e21f9db33123ff870add",
      associated: "e1de6c6119d7db471136285d10b47a450221b16978569190ef6a22b055295603", message: "", payload: "",
      check: "0ead29ef205fbb86d11abe5ed704b880"),
    Vector(
      name: "Core 5.4, Vol 6, Part C, 1.2, LL_START_ENC_RSP1", key: "99ad1b5226a37e3e058e3b8e27c2c666",
      nonce: "000000008024abdcbabebaafde", associated: "03", message: "06", payload: "9f", check: "cda7f448"),
    Vector(
      name: "NIST SP 800-38C, example 1: a nonce of 7 octets", key: "404142434445464748494a4b4c4d4e4f",
      nonce: "10111213141516", associated: "0001020304050607", message: "20212223", payload: "7162015b",
      check: "4dac255d"),
    Vector(
      name: "NIST SP 800-38C, example 3: a nonce of 12 octets", key: "404142434445464748494a4b4c4d4e4f",
      nonce: "101112131415161718191a1b", associated: "000102030405060708090a0b0c0d0e0f10111213",
      message: "202122232425262728292a2b2c2d2e2f3031323334353637",
      payload: "e3b201a9f5b71a7a9b1ceaeccd97e70b6176aad9a4428aa5", check: "484392fbc1b09951"),
    Vector(
      name: "MiBeacon, humidity", key: "e9ea895fac7cca6d30532432a516f3a8", nonce: "f4830238c1a45b0550260000",
      associated: "11", message: "061002d301", payload: "95ef58763c", check: "97e2abb5"),
    Vector(
      name: "BTHome, temperature and humidity", key: "231d39c1d7cc1ab1aee224cd096db932",
      nonce: "5448e68f80a5d2fc4100112233", associated: "", message: "02ca0903bf13", payload: "a47266c95f73",
      check: "78237214"),
  ]

  @Test("Vectors", arguments: vectors)
  func opens(_ vector: Vector) throws {
    let octets = try [vector.payload, vector.check, vector.nonce, vector.associated].map {
      try #require(Hex.decode($0))
    }
    let key = try #require(Hex.decode(vector.key).flatMap { Key128(bigEndian: $0) })
    func open(_ octets: [[UInt8]], _ key: Key128) -> [UInt8]? {
      AESCCM.open(octets[0], check: octets[1], nonce: octets[2], associatedData: octets[3], key: key)
    }
    #expect(open(octets, key).map { Hex.encode($0) } == vector.message)
    #expect(open(octets, .zero) == nil)
    // A bit that is altered, in whichever part.
    for part in octets.indices where !octets[part].isEmpty {
      for index in octets[part].indices {
        var altered = octets
        altered[part][index] ^= 0x40
        #expect(open(altered, key) == nil)
      }
    }
  }

  @Test func otherNumbersOfOctetsAreRefused() {
    let nonce: [UInt8] = Array(repeating: 0, count: 13)
    for (check, nonce) in [
      ([], nonce), ([1, 2], nonce), ([1, 2, 3, 4, 5], nonce), (Array(repeating: 0, count: 18), nonce),
      ([1, 2, 3, 4], []), ([1, 2, 3, 4], Array(nonce.dropLast(7))), ([1, 2, 3, 4], nonce + [0]),
    ] as [([UInt8], [UInt8])] {
      #expect(AESCCM.open([1, 2, 3], check: check, nonce: nonce, key: .zero) == nil)
    }
    let long = [UInt8](repeating: 0, count: 0x10000)
    #expect(AESCCM.open(long, check: [1, 2, 3, 4], nonce: nonce, key: .zero) == nil)
    #expect(AESCCM.open([], check: [1, 2, 3, 4], nonce: nonce, associatedData: long, key: .zero) == nil)
  }
}
