import Bluetooth
import BluetoothCrypto
import Testing

@Suite struct BluetoothCryptoTests {
  @Test func aBlockIsEncryptedAsTheStandardSays() throws {
    // FIPS 197, C.1.
    let key = try #require(Key128(bigEndian: (0..<16).map { UInt8($0) }))
    let block = try #require(Key128(bigEndian: (0..<16).map { UInt8($0 * 0x11) }))
    #expect(Hex.encode(AES128.encrypt(block, key: key).bigEndian) == "69c4e0d86a7b0430d8cdb78070b4c55a")
  }

  @Test func keysHaveTwoOrders() {
    let key = Key128(littleEndian: (0..<16).map { UInt8($0) })
    #expect(key?.bigEndian == (0..<16).reversed().map { UInt8($0) })
    #expect(key?.littleEndian == (0..<16).map { UInt8($0) })
    #expect(Key128(bigEndian: [1, 2, 3]) == nil)
    #expect(Key128(littleEndian: Array(repeating: 0, count: 17)) == nil)
  }

  @Test func aKeyOfFewerOctetsHasTheLowestOnes() throws {
    let key = try #require(Key128(littleEndian: (1...16).map { UInt8($0) }))
    #expect(key.truncated(to: 7).littleEndian == [1, 2, 3, 4, 5, 6, 7] + Array(repeating: 0, count: 9))
    #expect(key.truncated(to: 16) == key && key.truncated(to: 40) == key)
    #expect(key.truncated(to: 0) == .zero && key.truncated(to: -1) == .zero)
    #expect(Key128(0x0102_0304).littleEndian == [4, 3, 2, 1] + Array(repeating: 0, count: 12))
    var generator = SystemRandomNumberGenerator()
    #expect(Key128.random(using: &generator) != Key128.random(using: &generator))
  }

  @Test func aSignatureHoldsForItsPacketCounterAndKeyOnly() throws {
    let key = try #require(Key128(bigEndian: Array(repeating: 7, count: 16)))
    let packet: [UInt8] = [0xD2, 0x03, 0x00, 1, 2, 3]
    let signed = packet + ATTSignature.sign(packet, counter: 0x0102_0304, key: key)
    #expect(signed.count == packet.count + ATTSignature.length)
    #expect(ATTSignature.verify(signed, key: key) == 0x0102_0304)
    #expect(ATTSignature.verify(signed, key: .zero) == nil)
    for index in signed.indices {
      var altered = signed
      altered[index] ^= 1
      #expect(ATTSignature.verify(altered, key: key) == nil)
    }
    for count in 0..<signed.count { #expect(ATTSignature.verify(Array(signed.prefix(count)), key: key) == nil) }
  }

  @Test func twoNewPairsShareASecretAndNothingElse() throws {
    let (a, b, c) = (P256KeyPair(), P256KeyPair(), P256KeyPair())
    let secret = try #require(a.sharedSecret(with: b.publicKey))
    #expect(b.sharedSecret(with: a.publicKey) == secret)
    #expect(c.sharedSecret(with: a.publicKey) != secret)
    #expect(P256PublicKey(littleEndian: a.publicKey.littleEndian) == a.publicKey)
    #expect(P256KeyPair(privateKey: a.privateKey)?.publicKey == a.publicKey)
  }

  @Test func whatIsNoKeyIsRefused() {
    #expect(P256KeyPair(privateKey: Array(repeating: 0, count: 32)) == nil)
    #expect(P256KeyPair(privateKey: Array(repeating: 0xFF, count: 32)) == nil)
    #expect(P256KeyPair(privateKey: [1]) == nil)
    #expect(P256PublicKey(littleEndian: Array(repeating: 1, count: 63)) == nil)
    let zero = P256PublicKey(littleEndian: Array(repeating: 0, count: 64))
    #expect(zero.flatMap { P256KeyPair().sharedSecret(with: $0) } == nil)
  }

  @Test func pointsBesideTheCurveAndCoordinatesAboveItsFieldAreRefused() throws {
    let pair = P256KeyPair()
    for index in [0, 31] {
      var y = pair.publicKey.y
      y[index] ^= 1
      let beside = try #require(P256PublicKey(x: pair.publicKey.x, y: y))
      #expect(pair.sharedSecret(with: beside) == nil)
    }
    // The prime of the field, and the same point with it added to 0.
    let prime = try #require(Hex.decode("ffffffff00000001000000000000000000000000ffffffffffffffffffffffff"))
    let root = try #require(Hex.decode("66485c780e2f83d72433bd5d84a06bb6541c2af31dae871728bf856a174f93f4"))
    let zero = [UInt8](repeating: 0, count: 32)
    let (point, above) = try (
      #require(P256PublicKey(x: zero, y: root)), #require(P256PublicKey(x: prime, y: root))
    )
    #expect(pair.sharedSecret(with: point) != nil)
    #expect(pair.sharedSecret(with: above) == nil)
  }

  @Test func theLargestPrivateKeyIsOneLessThanTheOrder() throws {
    let order = try #require(Hex.decode("ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551"))
    #expect(P256KeyPair(privateKey: order) == nil)
    // Its public key is the base point with the other Y.
    let pair = try #require(P256KeyPair(privateKey: order.dropLast() + [0x50]))
    #expect(
      Hex.encode(pair.publicKey.x) == "6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296")
    #expect(P256KeyPair(privateKey: Array(repeating: 0, count: 31) + [1])?.publicKey.x == pair.publicKey.x)
  }

  @Test func pairingPacketsOfAWrongLengthHaveNoConfirmValue() {
    #expect(
      LegacyPairing.c1(k: .zero, r: .zero, request: [1], response: [2], initiator: .none, responder: .none) == nil)
  }
}
