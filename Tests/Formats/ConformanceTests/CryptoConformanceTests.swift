import Bluetooth
import BluetoothCrypto
import Testing

/// `crypto-vectors.json`: sample data of the Core Specification and RFC 4493, and BlueZ's results.
@Suite(.enabled(if: Vectors.has("crypto-vectors.json"), Vectors.missing("crypto-vectors.json")))
struct CryptoConformanceTests {
  /// One vector, with its fields by name.
  struct Vector {
    let fields: JSONValue
    var name: Comment { Comment(rawValue: fields["name"]?.string ?? fields["function"]?.string ?? "") }

    func field(_ name: String) throws -> JSONValue { try #require(fields["inputs"]?[name] ?? fields[name], "\(name)") }
    func text(_ name: String) throws -> String { try #require(try field(name).string) }
    func flag(_ name: String) throws -> Bool {
      let flag = try field(name).bool
      return try #require(flag as Bool?)
    }
    func number(_ name: String) throws -> UInt32 { UInt32(try #require(try field(name).int)) }
    func octets(_ name: String) throws -> [UInt8] {
      let text = try text(name)
      return try #require(Hex.decode(text))
    }
    func key(_ name: String) throws -> Key128 {
      let octets = try octets(name)
      return try #require(name.hasSuffix("_le") ? Key128(littleEndian: octets) : Key128(bigEndian: octets))
    }
    /// An address with its type before it: in the same field, or in a field of its own.
    func address(_ name: String, type: String? = nil) throws -> DeviceAddress {
      let octets = try octets(name)
      let code = try type.map { UInt8(try number($0)) } ?? octets[0]
      let kind = try #require(DeviceAddress.Kind(rawValue: code))
      return try #require(DeviceAddress(littleEndian: octets.suffix(6).reversed(), kind: kind))
    }
    func point(_ name: String) throws -> P256PublicKey {
      let point = Vector(fields: try field(name))
      let (x, y) = (try point.octets("x"), try point.octets("y"))
      return try #require(P256PublicKey(x: x, y: y))
    }
  }

  private func vectors(_ list: String) throws -> [Vector] {
    let file: JSONValue = try Vectors.load("crypto-vectors.json")
    return try #require(file[list]?.array).map(Vector.init)
  }

  private func hex(_ number: UInt32, octets: Int) -> String {
    Hex.encode((0..<octets).reversed().map { UInt8(truncatingIfNeeded: number >> (8 * UInt32($0))) })
  }

  @Test func functionsOfTheSecurityManager() throws {
    let vectors = try vectors("smp_functions") + vectors("key_conversion")
    #expect(vectors.count == 17)
    Tally.run(.crypto, "functions", vectors) { vector in
      try #require(try output(of: vector) == vector.text("output"), vector.name)
    }
  }

  private func output(of vector: Vector) throws -> String {
    let result: Key128
    switch try vector.text("function") {
    case "c1":
      result = try #require(
        LegacyPairing.c1(
          k: vector.key("k"), r: vector.key("r"), request: vector.octets("preq").reversed(),
          response: vector.octets("pres").reversed(), initiator: vector.address("ia", type: "iat"),
          responder: vector.address("ra", type: "rat")))
    case "s1":
      result = LegacyPairing.s1(k: try vector.key("k"), r1: try vector.key("r1"), r2: try vector.key("r2"))
    case "f4":
      let z = UInt8(try vector.number("z"))
      result = SecureConnections.f4(
        u: try vector.octets("u"), v: try vector.octets("v"), x: try vector.key("x"), z: z)
    case "f5":
      let keys = SecureConnections.f5(
        w: try vector.octets("w"), n1: try vector.key("n1"), n2: try vector.key("n2"),
        initiator: try vector.address("a1"), responder: try vector.address("a2"))
      return Hex.encode(keys.macKey.bigEndian + keys.ltk.bigEndian)
    case "f6":
      result = SecureConnections.f6(
        w: try vector.key("w"), n1: try vector.key("n1"), n2: try vector.key("n2"), r: try vector.key("r"),
        ioCapability: try vector.octets("io_cap"), sender: try vector.address("a1"),
        receiver: try vector.address("a2"))
    case "g2":
      let number = SecureConnections.g2(
        u: try vector.octets("u"), v: try vector.octets("v"), x: try vector.key("x"), y: try vector.key("y"))
      try #require("\(number % 1_000_000)" == vector.fields["passkey_digits"]?.string)
      return hex(number, octets: 4)
    case "h6": result = KeyDerivation.h6(w: try vector.key("w"), keyID: try vector.octets("key_id"))
    case "h7": result = KeyDerivation.h7(salt: try vector.key("salt"), w: try vector.key("w"))
    case "ah":
      let r = try vector.octets("r").reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
      return hex(KeyDerivation.ah(k: try vector.key("k"), r: r), octets: 3)
    case "aes_cmac": result = AES128.cmac(try vector.octets("message"), key: try vector.key("key"))
    case "ltk_to_link_key": result = KeyDerivation.linkKey(of: try vector.key("ltk"), ct2: try vector.flag("ct2"))
    case "link_key_to_ltk":
      result = KeyDerivation.longTermKey(of: try vector.key("link_key"), ct2: try vector.flag("ct2"))
    case let unknown:
      Issue.record("no function \(unknown)")
      return ""
    }
    return Hex.encode(result.bigEndian)
  }

  @Test func packetsAreSigned() throws {
    try Tally.run(.crypto, "att_signing", vectors("att_signing")) { vector in
      let signature = ATTSignature.sign(
        try vector.octets("message"), counter: try vector.number("sign_counter"), key: try vector.key("csrk_le"))
      try #require(Hex.encode(signature) == (try vector.text("signature")), vector.name)
    }
  }

  @Test func signaturesAreChecked() throws {
    try Tally.run(.crypto, "att_signature_verification", vectors("att_signature_verification")) { vector in
      let counter = ATTSignature.verify(try vector.octets("signed_pdu"), key: try vector.key("csrk_le"))
      try #require((counter != nil) == (try vector.flag("valid")), vector.name)
    }
  }

  @Test func databasesAreHashed() throws {
    let vectors = try vectors("gatt_database_hash")
    #expect(vectors.count == 7)
    Tally.run(.crypto, "gatt_database_hash", vectors) { vector in
      try #require(
        Hex.encode(DatabaseHash.code(of: try vector.octets("message"))) == (try vector.text("hash")), vector.name)
    }
  }

  @Test func functionsOfCoordinatedSets() throws {
    try Tally.run(.crypto, "csip", vectors("csip")) { vector in
      let k = try vector.key("k_le")
      if try vector.text("function") == "sih" {
        let r = try vector.octets("r_le").reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        let hash = try vector.octets("output_le").reversed()
        try #require(hex(CoordinatedSet.sih(k: k, r: r), octets: 3) == Hex.encode(Array(hash)))
      } else {
        try #require(CoordinatedSet.sef(k: k, sirk: try vector.key("sirk_le")) == (try vector.key("output_le")))
      }
    }
  }

  @Test func secretsAreSharedOverP256() throws {
    try Tally.run(.crypto, "ecdh_p256", vectors("ecdh_p256")) { vector in
      let a = try #require(P256KeyPair(privateKey: try vector.octets("private_a")))
      let publicB = try vector.point("public_b")
      guard try vector.flag("valid") else {
        try #require(a.sharedSecret(with: publicB) == nil, vector.name)
        return
      }
      let b = try #require(P256KeyPair(privateKey: try vector.octets("private_b")))
      try #require(a.publicKey == (try vector.point("public_a")), vector.name)
      try #require(b.publicKey == publicB, vector.name)
      let secret = try vector.octets("dhkey")
      try #require(a.sharedSecret(with: b.publicKey) == secret, vector.name)
      try #require(b.sharedSecret(with: a.publicKey) == secret, vector.name)
    }
  }
}
