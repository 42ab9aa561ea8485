import Bluetooth
import BluetoothCrypto
import GATT
import Testing

/// gatt-vectors.json.
struct GATTVectorFile: Decodable {
  static let name = "gatt-vectors.json"

  struct Step: Decodable {
    let client, server, action, expect, value: String?
    let handle: UInt16?
  }

  struct Database: Decodable {
    struct Service: Decodable { let start, end: UInt16 }
    struct Attribute: Decodable {
      let handle: UInt16
      let type, value: String
      let permissions: [String]
    }
    struct Hash: Decodable {
      let message, code: String
      enum CodingKeys: String, CodingKey {
        case message
        case code = "hash_octets_be"
      }
    }
    let name: String
    let services: [Service]
    let attributes: [Attribute]
    let hash: Hash
    enum CodingKeys: String, CodingKey {
      case name, services, attributes
      case hash = "database_hash"
    }
  }

  struct ServerCase: Decodable {
    let name, database, security: String
    let mtu: Int
    let exchange: [Step]
    let tags: [String]
    enum CodingKeys: String, CodingKey {
      case name, database, exchange, tags
      case security = "link_security"
      case mtu = "server_mtu"
    }
  }

  struct Procedure: Decodable {
    let procedure: String
    let range: [UInt16]?
    let handle: UInt16?
    let exchange: [Step]
    let results: [JSONValue]
  }

  struct ClientCase: Decodable {
    let name: String
    let mtu: Int
    let security: String?
    let operation: JSONValue
    let setup: [Step]
    let setupProcedures: [Procedure]?
    let exchange: [Step]
    let discovered: JSONValue?
    let expect: JSONValue
    enum CodingKeys: String, CodingKey {
      case name, security, operation, setup, exchange, discovered, expect
      case mtu = "client_mtu"
      case setupProcedures = "setup_procedures"
    }
  }

  /// A case of the suite that the vectors leave out.
  struct Skipped: Decodable { let name, why: String }

  let databases: [Database]
  let skipped: [Skipped]
  let serverCases: [ServerCase]
  let clientCases: [ClientCase]
  enum CodingKeys: String, CodingKey {
    case databases, skipped
    case serverCases = "server_cases"
    case clientCases = "client_cases"
  }

  static func load() throws -> GATTVectorFile { try Vectors.load(name, as: GATTVectorFile.self) }
}

extension GATTVectorFile.Database {
  /// The database as our server holds it.
  /// - Parameter plainConfigurations: true if 0x2902 is a value like any other.
  func build(plainConfigurations: Bool = false) throws -> AttributeDatabase {
    var database = AttributeDatabase(cmac: DatabaseHash.code(of:))
    for service in services {
      let members = try attributes.filter { service.start...service.end ~= $0.handle }.map { attribute in
        let type = try #require(BluetoothUUID(attribute.type))
        let value = try #require(Hex.decode(attribute.value))
        let isConfiguration = type == 0x2902 && !plainConfigurations
        return GATT.Attribute(
          handle: attribute.handle, type: type, permissions: try permissions(attribute.permissions),
          source: isConfiguration ? .clientConfiguration : .stored(value))
      }
      try database.insert(members, range: service.start...service.end, owner: .local)
    }
    return database
  }

  private func permissions(_ names: [String]) throws -> AttributePermissions {
    var permissions = AttributePermissions()
    for name in names {
      switch name {
      case "read": permissions.read = permissions.read ?? .open
      case "write": permissions.write = permissions.write ?? .open
      case "read_encrypt": permissions.read = .encrypted
      case "write_encrypt": permissions.write = .encrypted
      default: Issue.record("unknown permission \(name)")
      }
    }
    return permissions
  }
}
