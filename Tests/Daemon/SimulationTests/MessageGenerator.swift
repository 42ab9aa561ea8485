import Adapter
import BledRPC
import Bluetooth
import FoundationEssentials

@testable import BledCore

@testable import SimulatedAdapter

/// Makes messages from the protocol's own description, with changes of values, names, Unicode and structure. The same
/// seed makes the same messages.
struct MessageGenerator {
  /// A line, and true if its id must be answered.
  struct Message {
    let line: Data
    let method: String
    let mustBeAnswered: Bool
  }

  /// JSON that may have any octets in its names and texts, and any number of equal names.
  private indirect enum Node {
    case octets([UInt8])
    case list([Node])
    case object([(name: Node, value: Node)])

    static func raw(_ text: String) -> Node { .octets(Array(text.utf8)) }

    func write(to line: inout [UInt8]) {
      switch self {
      case .octets(let octets): line += octets
      case .list(let elements):
        line.append(UInt8(ascii: "["))
        for (index, element) in elements.enumerated() {
          if index > 0 { line.append(UInt8(ascii: ",")) }
          element.write(to: &line)
        }
        line.append(UInt8(ascii: "]"))
      case .object(let members):
        line.append(UInt8(ascii: "{"))
        for (index, member) in members.enumerated() {
          if index > 0 { line.append(UInt8(ascii: ",")) }
          member.name.write(to: &line)
          line.append(UInt8(ascii: ":"))
          member.value.write(to: &line)
        }
        line.append(UInt8(ascii: "}"))
      }
    }
  }

  private struct Method {
    let name: String
    let params: [(name: String, isRequired: Bool, schema: JSONValue)]
  }

  private var random: SeededGenerator
  private let methods: [Method]
  private let components: [String: JSONValue]
  /// Identifiers of devices; some exist.
  var peripherals = ["C0DE0000-0000-4000-8000-000000000000"]

  init(seed: UInt64) throws {
    random = SeededGenerator(seed: seed, stream: 77)
    let document = try JSONDecoder().decode(JSONValue.self, from: ProtocolDocument.line)
    components = document["components"]?["schemas"]?.members ?? [:]
    methods = (document["methods"]?.elements ?? []).compactMap { method in
      guard method["x-sender"]?.string == "client", let name = method["name"]?.string, name != SessionEnd.name else {
        return nil
      }
      let params = (method["params"]?.elements ?? []).map { param in
        (param["name"]?.string ?? "", param["required"] == .bool(true), param["schema"] ?? [:])
      }
      return Method(name: name, params: params)
    }
  }

  // MARK: Chance

  private mutating func number(below bound: Int) -> Int { Int(random.next() % UInt64(bound)) }

  private mutating func one<Element>(of elements: [Element]) -> Element { elements[number(below: elements.count)] }

  // MARK: Text

  private static let alphabets = [
    "abc", "09af", "\u{300}\u{316}", "é", "e\u{301}", "\u{1F1E9}", "😀\u{200D}", "\u{212A}\u{37E}", "\u{7F}\u{85}",
    "א\u{627}",
    "\u{1100}\u{1161}\u{11A8}", "\u{F71}\u{F72}\u{F74}", "\u{FFFF}\u{FFFD}",
  ]

  private mutating func text() -> Node {
    let scalars = Array(one(of: Self.alphabets).unicodeScalars)
    let count = one(of: [0, 1, 3, 20, 64, 127, 128, 129, 248, 400])
    var octets = [UInt8(ascii: "\"")]
    for _ in 0..<count { octets += Array(String(one(of: scalars)).utf8) }
    if number(below: 8) == 0 { octets += Array(one(of: ["\\n", "\\u0000", "\\ud83d\\ude00", "\\udc00", "\\\""]).utf8) }
    return .octets(octets + [UInt8(ascii: "\"")])
  }

  /// Text that Swift compares slowly.
  private mutating func slowText() -> Node {
    let count = one(of: [50, 500, 5000, 15_000])
    return .raw(
      "\"a" + String(repeating: "\u{300}", count: count) + String(repeating: "\u{316}", count: count) + "\"")
  }

  // MARK: Values

  private mutating func value(of schema: JSONValue) -> Node {
    if let reference = schema["$ref"]?.string {
      return value(of: components[String(reference.split(separator: "/").last ?? "")] ?? [:])
    }
    if let words = schema["enum"]?.elements { return .raw("\"\(one(of: words).string ?? "")\"") }
    switch schema["type"]?.string {
    case "string": return .raw("\"\(string(schema))\"")
    case "integer": return .raw(one(of: ["0", "1", "3", "11", "17", "42", "-60", "65535"]))
    case "number": return .raw(one(of: ["0.05", "0.1", "0.5", "1", "10"]))
    case "boolean": return .raw(one(of: ["true", "false"]))
    case "array":
      let element = schema["items"] ?? [:]
      var elements: [Node] = []
      for _ in 0..<one(of: [0, 1, 1, 2, 5]) { elements.append(value(of: element)) }
      return .list(elements)
    default:
      let required = schema["required"]?.elements ?? []
      var members: [(name: Node, value: Node)] = []
      for (name, part) in (schema["properties"]?.members ?? [:]).sorted(by: { $0.key < $1.key })
      where required.contains(.text(name)) || number(below: 3) == 0 {
        members.append((.raw("\"\(name)\""), value(of: part)))
      }
      if let part = schema["additionalProperties"] { members.append((.raw("\"180D\""), value(of: part))) }
      return .object(members)
    }
  }

  private mutating func string(_ schema: JSONValue) -> String {
    if schema["pattern"]?.string?.hasPrefix("^([0-9a-fA-F]{2})*") == true {
      return String(repeating: "5a", count: one(of: [0, 1, 2, 20, 512, 513]))
    }
    if schema["pattern"] != nil { return one(of: ["180D", "180F", "2A37", "12345678"]) }
    return one(of: [
      one(of: peripherals), "C0:DE:00:00:00:01", "random", "public", "a0", "read", "notify", "write", "readable", "é",
    ])
  }

  private mutating func odd() -> Node {
    switch number(below: 12) {
    case 0: return slowText()
    case 1, 2, 3: return text()
    case 4: return .list(Array(repeating: .raw("1"), count: number(below: 2000)))
    case 5:
      let depth = one(of: [5, 30, 31, 32, 33, 500])
      return .raw(String(repeating: "[", count: depth) + "1" + String(repeating: "]", count: depth))
    case 6: return .object((0..<number(below: 40)).map { (.raw("\"\($0 % 30)\""), .raw("1")) })
    default:
      return .raw(
        one(of: [
          "null", "true", "0", "-1", "9223372036854775808", "1e400", "1.5", "5e-324", "\"\"", "[]", "{}", "\"2.0\"",
          "\"\\ud800\"",
        ]))
    }
  }

  /// The value with a change somewhere in it.
  private mutating func changed(_ node: Node) -> Node {
    switch node {
    case .object(var members) where !members.isEmpty && number(below: 5) > 0:
      let index = number(below: members.count)
      switch number(below: 5) {
      case 0: members.remove(at: index)
      case 1: members[index].name = text()
      case 2: members.append((number(below: 4) == 0 ? slowText() : text(), odd()))
      case 3: members.append(members[index])
      default: members[index].value = changed(members[index].value)
      }
      return .object(members)
    case .list(var elements) where !elements.isEmpty && number(below: 5) > 0:
      let index = number(below: elements.count)
      if number(below: 4) == 0 { elements += Array(repeating: elements[index], count: one(of: [1, 50, 200])) }
      elements[index] = changed(elements[index])
      return .list(elements)
    default: return odd()
    }
  }

  // MARK: Messages

  /// The next message, with an id if it is a call.
  mutating func next(id: Int) -> Message {
    let method = one(of: methods)
    var members: [(name: Node, value: Node)] = []
    for param in method.params where param.isRequired || number(below: 5) < 2 {
      members.append((.raw("\"\(param.name)\""), value(of: param.schema)))
    }
    var params = Node.object(members)
    for _ in 0..<one(of: [0, 0, 1, 1, 2, 5]) { params = changed(params) }
    // An id with changed octets must not become another message's.
    let isBroken = number(below: 12) == 0
    var envelope: [(name: Node, value: Node)] = [
      (.raw("\"jsonrpc\""), .raw("\"2.0\"")), (.raw("\"id\""), .raw(isBroken ? "\"b\(id)\"" : "\(id)")),
      (.raw("\"method\""), .raw("\"\(method.name)\"")), (.raw("\"params\""), params),
    ]
    var mustBeAnswered = !isBroken
    switch number(below: 40) {
    case 0: envelope[0].value = odd()
    case 1: envelope[2].value = odd()
    case 2: envelope[3].value = odd()
    case 3: envelope.append((number(below: 4) == 0 ? slowText() : text(), odd()))
    case 4: envelope.remove(at: one(of: [0, 2, 3]))
    case 5:
      envelope.remove(at: 1)
      mustBeAnswered = false
    case 6: envelope.shuffle(using: &random)
    case 7: envelope.append(envelope[one(of: [0, 2, 3])])
    case 8:
      envelope.append((.raw("\"x\""), .raw("\"" + String(repeating: "x", count: one(of: [70_000, 600_000])) + "\"")))
    default: break
    }
    var line: [UInt8] = []
    Node.object(envelope).write(to: &line)
    if isBroken { breakOctets(of: &line) }
    return Message(line: Data(line), method: method.name, mustBeAnswered: mustBeAnswered)
  }

  private mutating func breakOctets(of line: inout [UInt8]) {
    for _ in 0..<one(of: [1, 1, 2, 10]) where !line.isEmpty {
      let place = number(below: line.count)
      switch number(below: 5) {
      case 0: line[place] = UInt8(number(below: 256))
      case 1: line.removeSubrange(place..<min(line.count, place + one(of: [1, 2, 20])))
      case 2: line.insert(contentsOf: line[place..<min(line.count, place + 20)], at: place)
      case 3:
        line.insert(
          contentsOf: one(of: [[0xFF], [0], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0xEF, 0xBB, 0xBF]]), at: place)
      default: line.insert(contentsOf: one(of: ["{", "}", "[", "]", ",", ":", "\"", "null", "\\u"]).utf8, at: place)
      }
    }
  }
}

extension JSONValue {
  fileprivate subscript(_ name: String) -> JSONValue? { members?[name] }
  fileprivate var members: [String: JSONValue]? { if case .object(let members) = self { members } else { nil } }
  fileprivate var elements: [JSONValue]? { if case .array(let elements) = self { elements } else { nil } }
  fileprivate var string: String? { if case .text(let text) = self { text } else { nil } }
}
