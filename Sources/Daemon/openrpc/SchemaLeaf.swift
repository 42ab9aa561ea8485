import BledRPC
import Bluetooth

/// A type with a JSON schema that is known without examining it, and a sample value for examining the types that
/// contain it.
protocol SchemaLeaf: Decodable {
  /// Its name in `components`; nil if the schema stands where it is used.
  static var component: String? { get }
  static func schema(_ schemas: inout SchemaCollection) throws -> JSONValue
  static var sample: Self { get }
}

extension SchemaLeaf {
  static var component: String? { nil }
}

extension String: SchemaLeaf {
  static func schema(_ schemas: inout SchemaCollection) -> JSONValue { ["type": "string"] }
  static var sample: String { "" }
}

extension Bool: SchemaLeaf {
  static func schema(_ schemas: inout SchemaCollection) -> JSONValue { ["type": "boolean"] }
  static var sample: Bool { false }
}

extension Int: SchemaLeaf {
  static func schema(_ schemas: inout SchemaCollection) -> JSONValue { ["type": "integer"] }
  static var sample: Int { 0 }
}

extension UInt32: SchemaLeaf {
  static func schema(_ schemas: inout SchemaCollection) -> JSONValue {
    ["type": "integer", "minimum": 0, "maximum": 4_294_967_295]
  }
  static var sample: UInt32 { 0 }
}

extension UInt16: SchemaLeaf {
  static func schema(_ schemas: inout SchemaCollection) -> JSONValue {
    ["type": "integer", "minimum": 0, "maximum": 65535]
  }
  static var sample: UInt16 { 0 }
}

extension Double: SchemaLeaf {
  static func schema(_ schemas: inout SchemaCollection) -> JSONValue { ["type": "number"] }
  static var sample: Double { 0 }
}

extension HexBytes: SchemaLeaf {
  static var component: String? { "HexBytes" }
  static func schema(_ schemas: inout SchemaCollection) -> JSONValue {
    [
      "type": "string", "description": "Octets, two hex digits each: lower case from the daemon, either from clients.",
      "pattern": "^([0-9a-fA-F]{2})*$",
    ]
  }
  static var sample: HexBytes { HexBytes([]) }
}

extension BluetoothUUID: SchemaLeaf {
  static var component: String? { "UUID" }
  static func schema(_ schemas: inout SchemaCollection) -> JSONValue {
    [
      "type": "string", "description": "A UUID of 16, 32 or 128 bits: \"180D\", or with dashes.",
      "pattern": "^([0-9a-fA-F]{4}|[0-9a-fA-F]{8}|[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})$",
    ]
  }
  static var sample: BluetoothUUID { 0 }
}

extension Vocabulary {
  /// The schema of one of the words.
  static var schema: JSONValue { ["type": "string", "enum": .array(allCases.map { .text($0.word) })] }
  static var sample: Self? { allCases.first }
}

extension Word: SchemaLeaf {
  static func schema(_ schemas: inout SchemaCollection) -> JSONValue { Known.schema }
  static var sample: Word { "" }
}

extension JSONValue: SchemaLeaf {
  static func schema(_ schemas: inout SchemaCollection) -> JSONValue { [:] }
  static var sample: JSONValue { .null }
}

extension Array: SchemaLeaf where Element: Decodable {
  static func schema(_ schemas: inout SchemaCollection) throws -> JSONValue {
    ["type": "array", "items": try schemas.schema(of: Element.self)]
  }
  static var sample: [Element] { [] }
}

extension Dictionary: SchemaLeaf where Key == String, Value: Decodable {
  static func schema(_ schemas: inout SchemaCollection) throws -> JSONValue {
    ["type": "object", "additionalProperties": try schemas.schema(of: Value.self)]
  }
  static var sample: [String: Value] { [:] }
}

extension DecodedData: SchemaLeaf {
  static var component: String? { "DecodedData" }

  static func schema(_ schemas: inout SchemaCollection) -> JSONValue {
    [
      "type": "object", "required": ["kind"],
      "properties": [
        "kind": [
          "type": "string",
          "description": .text("\(Kind.allCases.map(\.rawValue).joined(separator: ", ")), or one of a later version"),
        ]
      ],
      "additionalProperties": [
        "type": ["string", "number", "boolean"],
        "description": "values by name; docs/beacons.md lists the names and their units",
      ],
    ]
  }
  static var sample: DecodedData { DecodedData(kind: "", members: []) }
}
