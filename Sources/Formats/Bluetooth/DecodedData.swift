/// A device's data in a format by its maker or an application: the kind of format, and values by name.
///
/// A name has one meaning in every kind, unit included (`DecodedData.unit(of:)`; `docs/beacons.md` lists them all).
/// Unavailable or invalid values are omitted.
public struct DecodedData: Hashable, Sendable {
  /// The formats.
  public enum Kind: String, Hashable, Sendable, CaseIterable {
    /// Apple's iBeacon.
    case iBeacon
    /// An Eddystone beacon's identity.
    case eddystoneUID
    /// An Eddystone beacon's URL.
    case eddystoneURL
    /// An Eddystone beacon's telemetry, plain or encrypted.
    case eddystoneTLM
    /// An Eddystone beacon's ephemeral identifier.
    case eddystoneEID
    /// AltBeacon.
    case altBeacon
    /// BTHome version 2, plain or encrypted.
    case bthome
    /// RuuviTag, data formats 3 and 5.
    case ruuviTag
    /// Thermometers of Govee.
    case govee
    /// MiBeacon of Xiaomi.
    case miBeacon
    /// Meters of SwitchBot.
    case switchBot
  }

  /// A value.
  public enum Value: Hashable, Sendable {
    /// Yes or no.
    case flag(Bool)
    /// A whole number.
    case integer(Int)
    /// A number with a fraction; always finite.
    case number(Double)
    /// A text, or octets as hex digits.
    case text(String)
  }

  /// A value with its name.
  public struct Member: Hashable, Sendable {
    /// The name, in lower camel case; a name's second value has a 2 at its end, and so on.
    public let name: String
    /// The value.
    public let value: Value

    /// Makes a value with its name.
    public init(name: String, value: Value) {
      self.name = name
      self.value = value
    }
  }

  /// The format, one of `Kind`, or one added by a later version.
  public let kind: String
  /// The values, as they are in the packet.
  public private(set) var members: [Member] = []
  /// Maximum values of a format without a fixed number.
  package static let limit = 32

  /// Makes data from its parts.
  public init(kind: String, members: [Member]) {
    self.kind = kind
    self.members = members
  }

  /// Begins with a format without values.
  package init(_ kind: Kind) { self.kind = kind.rawValue }

  /// The value with this name.
  public subscript(name: String) -> Value? { members.first { $0.name.hasSameOctets(as: name) }?.value }

  /// Adds a value; nothing for nil. An existing name gets a number.
  package mutating func add(_ name: String, _ value: Value?) {
    guard let value else { return }
    var numbered = name
    var number = 1
    while self[numbered] != nil {
      number += 1
      numbered = "\(name)\(number)"
    }
    members.append(Member(name: numbered, value: value))
  }

  /// Adds a whole number.
  package mutating func add(_ name: String, _ number: (some BinaryInteger)?) {
    add(name, number.flatMap { Int(exactly: $0) }.map(Value.integer))
  }

  /// Adds a number sent as `raw` × `factor` / `divisor`. The quotient is the number nearest to the intended decimal
  /// fraction, so 2506 over 100 is 25.06.
  package mutating func add(_ name: String, _ raw: Int?, times factor: Int = 1, over divisor: Int) {
    add(name, raw.map { .number(Double($0 * factor) / Double(divisor)) })
  }

  /// Adds yes or no.
  package mutating func add(_ name: String, _ flag: Bool) { add(name, .flag(flag)) }

  /// Adds octets as hex digits.
  package mutating func add(_ name: String, hex octets: [UInt8]?) { add(name, octets.map { .text(Hex.encode($0)) }) }
}

extension DecodedData: Codable {
  private struct Key: CodingKey {
    let stringValue: String
    let intValue: Int? = nil

    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { return nil }
  }

  /// Reads an object; its members are in the order of their names, without lists and objects.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: Key.self)
    kind = try container.decode(String.self, forKey: Key(stringValue: "kind"))
    for key in container.allKeys.sorted(by: { $0.stringValue < $1.stringValue })
    where !key.stringValue.hasSameOctets(as: "kind") {
      let value: Value
      if let flag = try? container.decode(Bool.self, forKey: key) {
        value = .flag(flag)
      } else if let integer = try? container.decode(Int.self, forKey: key) {
        value = .integer(integer)
      } else if let number = try? container.decode(Double.self, forKey: key) {
        value = .number(number)
      } else if let text = try? container.decode(String.self, forKey: key) {
        value = .text(text)
      } else {
        continue
      }
      members.append(Member(name: key.stringValue, value: value))
    }
  }

  /// Writes an object with `kind` and the values by name.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Key.self)
    try container.encode(kind, forKey: Key(stringValue: "kind"))
    for member in members {
      let key = Key(stringValue: member.name)
      switch member.value {
      case .flag(let flag): try container.encode(flag, forKey: key)
      case .integer(let integer): try container.encode(integer, forKey: key)
      case .number(let number): try container.encode(number, forKey: key)
      case .text(let text): try container.encode(text, forKey: key)
      }
    }
  }
}
