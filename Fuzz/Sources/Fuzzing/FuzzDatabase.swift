import Bluetooth
import GATT

/// The owner that answers for its values.
public let fuzzOwner = AttributeOwner(9)

extension AttributeDatabase {
  /// A database with an attribute of each kind: fixed, stored, of an owner, long, with descriptors, included, and
  /// behind each sort of protection. About 60 handles, so that one octet reaches all of them.
  public static let fuzzed: AttributeDatabase = {
    var database = AttributeDatabase { message in
      // Not AES: it only has to differ where the databases do.
      let hash = message.reduce(UInt64(0xCBF2_9CE4_8422_2325)) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
      return (0..<16).map { UInt8(truncatingIfNeeded: hash >> (UInt64($0 % 8) * 8)) }
    }
    do {
      _ = try database.add(
        .genericAccess(
          name: "fuzz", appearance: 0x0340,
          preferredParameters: PreferredConnectionParameters(interval: 6...12, latency: 0, timeout: 100)))
      _ = try database.add(.genericAttribute(hasHash: true))
      let plain = try database.add(plainService)
      _ = try database.add(ownersService, owner: fuzzOwner)
      _ = try database.add(protectedService(including: plain.range.lowerBound), owner: AttributeOwner(10))
    } catch {
      invariant(false, "the database: \(error)")
    }
    return database
  }()

  private static var plainService: ServiceDefinition {
    ServiceDefinition(
      uuid: 0x180D,
      characteristics: [
        CharacteristicDefinition(uuid: 0x2A37, properties: [.notify, .indicate], value: .stored([0, 60])),
        CharacteristicDefinition(uuid: 0x2A38, properties: [.read], value: .stored([1])),
        CharacteristicDefinition(uuid: 0x2A38, properties: [.read], value: .stored([2])),
        CharacteristicDefinition(
          uuid: 0x2A39, properties: [.read, .write, .writeWithoutResponse, .authenticatedSignedWrites],
          value: .stored([7]), maximumLength: 40,
          descriptors: [
            DescriptorDefinition(
              uuid: 0x2901, permissions: AttributePermissions(read: .open, write: .open), value: .stored([0x61]))
          ]),
        CharacteristicDefinition(
          uuid: 0x2A3A, properties: [.read, .write, .extendedProperties],
          value: .stored([UInt8](repeating: 5, count: 512))),
      ])
  }

  private static var ownersService: ServiceDefinition {
    ServiceDefinition(
      uuid: BluetoothUUID(high: 0x0011_2233_4455_6677, low: 0x8899_AABB_CCDD_EEFF),
      characteristics: [
        CharacteristicDefinition(uuid: 0x2AF0, properties: [.read, .notify], value: .owner),
        CharacteristicDefinition(uuid: 0x2AF0, properties: [.read], value: .owner),
        CharacteristicDefinition(
          uuid: BluetoothUUID(high: 1, low: 2), properties: [.read, .write, .writeWithoutResponse, .indicate],
          value: .owner,
          descriptors: [
            DescriptorDefinition(
              uuid: 0x2904, permissions: AttributePermissions(read: .open, write: .open), value: .owner)
          ]),
        CharacteristicDefinition(uuid: 0x2AF2, properties: [.write], value: .owner, maximumLength: 4),
      ])
  }

  private static func protectedService(including plain: UInt16) -> ServiceDefinition {
    func both(_ requirement: AccessRequirement) -> AttributePermissions {
      AttributePermissions(read: requirement, write: requirement)
    }
    return ServiceDefinition(
      uuid: 0x1234, isPrimary: false, includes: [plain],
      characteristics: [
        CharacteristicDefinition(
          uuid: 0x2B01, properties: [.read, .write], permissions: both(.encrypted), value: .stored([1])),
        CharacteristicDefinition(
          uuid: 0x2B01, properties: [.read, .write], permissions: both(.authenticated), value: .owner),
        CharacteristicDefinition(
          uuid: 0x2B02, properties: [.read, .write], permissions: both(.secureConnections), value: .stored([3])),
        CharacteristicDefinition(
          uuid: 0x2B03, properties: [.read, .write],
          permissions: both(AccessRequirement(level: 2, minimumKeySize: 16, authorization: true)), value: .owner),
        CharacteristicDefinition(
          uuid: 0x2B04, properties: [.read], permissions: AttributePermissions(), value: .stored([4])),
      ])
  }
}
