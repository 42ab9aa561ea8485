import Bluetooth
import FoundationEssentials
import Testing

@testable import BledRPC
@testable import openrpc

@Suite("OpenRPC") struct OpenRPCTests {
  @Test("docs/openrpc.json is made of the messages and their doc comments as they are")
  func checkedInDocument() throws {
    let stored = try Data(contentsOf: URL(filePath: Main.path))
    let isCurrent = try stored == Main.document()
    #expect(isCurrent, "the messages changed: run make reference, and check the difference")
  }

  @Test("every member has words; a text its words or its kind, a number its range or its unit")
  func words() throws {
    let (comments, places) = try commentsAndPlaces()
    for (place, schema) in places.sorted(by: { $0.key < $1.key }) {
      let words = comments.member(place)
      #expect(words != nil, "\(comments.file(of: place)): \(place) has no doc comment right above it")
      guard let words, let flaw = flaw(of: schema, words) else { continue }
      Issue.record("\(comments.file(of: place)): \(place), \"\(words)\": \(flaw)")
    }
    for place in OpenRPC.placesOfConstants where comments.member(place) == nil {
      Issue.record("\(comments.file(of: place)): \(place) has no doc comment right above it")
    }
    for type in try components() where comments.type(type) == nil {
      Issue.record("\(comments.file(of: type)): \(type) has no doc comment right above it")
    }
  }

  @Test("limits are those of members that there are, and the members' words state the same")
  func limits() throws {
    let (comments, places) = try commentsAndPlaces()
    for (place, limits) in Limits.members {
      #expect(places[place] != nil, "there is no \(place)")
      guard let range = limits.words else { continue }
      let words = comments.member(place) ?? ""
      #expect(words.contains(range), "\(comments.file(of: place)): \(place) does not say \"\(range)\": \(words)")
    }
  }

  @Test("a schema gets the limits of its numbers; a type's own range stays where nothing is declared")
  func applied() {
    #expect(
      Limits.numbers(0.02...4, .seconds).apply(to: ["type": "number"])
        == ["type": "number", "minimum": .number(0.02), "maximum": 4, "x-unit": "s"])
    #expect(
      Limits.integers(37...39).apply(to: ["type": "array", "items": ["type": "integer"]])
        == ["type": "array", "items": ["type": "integer", "minimum": 37, "maximum": 39]])
    let handle: JSONValue = ["type": "integer", "minimum": 0, "maximum": 65535]
    #expect(
      Limits.atLeast(1, .octets).apply(to: handle)
        == ["type": "integer", "minimum": 1, "maximum": 65535, "x-unit": "octets"])
    #expect(Limits.any(.dBm).apply(to: ["type": "string"]) == ["type": "string"])
  }

  private func flaw(of schema: JSONValue, _ words: String) -> String? {
    guard case .object(let members) = schema else { return nil }
    switch members["type"] {
    case "array": return flaw(of: members["items"] ?? [:], words)
    case "integer" where members["minimum"] == nil && members["x-unit"] == nil,
      "number" where members["x-unit"] == nil:
      return """
        declare the range of the number or its unit in Limits+Members.swift, and say the range in words, such as "0 to \
        255"
        """
    case "string" where members["enum"] == nil && members["pattern"] == nil:
      let kinds = Self.kindsOfText
      let spoken = words.lowercased()
      if kinds.contains(where: spoken.contains) { return nil }
      return """
        a text that is one of a few words is a Vocabulary, or a Word of it; any other says what it is: one of \
        \(kinds.joined(separator: ", "))
        """
    default: return nil
    }
  }

  /// Kinds of texts that are not one of a few words.
  private static let kindsOfText = [
    "identifier", "name", "address", "adapter", "digits", "path", "uri", "message", "remedy", "version", "in words",
    "as json5",
  ]

  private func commentsAndPlaces() throws -> (DocComments, [String: JSONValue]) {
    let comments = try DocComments()
    return (comments, try OpenRPC.description(comments).places)
  }

  /// The names of all types that others refer to, except those with a schema that is not made of their members.
  private func components() throws -> Set<String> {
    guard case .object(let document) = try OpenRPC.description(DocComments()).document,
      case .object(let components)? = document["components"],
      case .object(let schemas)? = components["schemas"]
    else { return [] }
    return Set(schemas.keys).subtracting(["HexBytes", "UUID", "DecodedData"])
  }

  @Test("what a method needs is that of its noun; only those that say so are open to everybody")
  func permissions() throws {
    let open = ProtocolContents.clientCalls.filter { $0.method.permission == nil }.map { $0.name }
    let own = [
      "adapter.list", "capture.stop", "l2cap.close", "metrics.get", "rpc.discover", "session.end", "session.list",
      "session.open",
    ]
    #expect(open.sorted() == own)
    let nouns: [String: Permission] = [
      "scan": .scan, "peripheral": .connect, "gatt": .connect, "service": .serve, "server": .serve,
      "advertising": .advertise, "pairing": .pair, "adapter": .adapters, "session": .sessions, "l2cap": .serve,
      "periodic": .scan, "capture": .capture, "simulation": .simulation,
    ]
    // A channel is opened by programs that its device serves. A response to a train is sent, as advertisements are.
    let others: [any ClientCall.Type] = [
      PeripheralPair.self, PairingList.self, L2CAPOpen.self, PeriodicRespond.self,
    ]
    for method in ProtocolContents.clientCalls
    where method.method.permission != nil && !others.contains(where: { $0 == method }) {
      #expect(method.method.permission == nouns[String(method.name.prefix { $0 != "." })], "\(method.name)")
    }
    #expect(PeripheralPair.method.permission == .pair && L2CAPOpen.method.permission == .connect)
    #expect(PeriodicRespond.method.permission == .advertise && PairingList.method.permission == .bonds)
    #expect(GATTRead.method.permission == .connect)
    #expect(ServerNotify.method.permission == .serve)
  }

  @Test("every reference leads somewhere")
  func references() throws {
    guard case .object(let document) = try OpenRPC.description(DocComments()).document,
      case .object(let components)? = document["components"],
      case .object(let schemas)? = components["schemas"], case .object(let errors)? = components["errors"]
    else {
      Issue.record("no components")
      return
    }
    var found: Set<String> = []
    func collect(_ value: JSONValue) {
      switch value {
      case .array(let elements): elements.forEach(collect)
      case .object(let members):
        if case .text(let reference)? = members["$ref"] { found.insert(reference) }
        members.values.forEach(collect)
      default: break
      }
    }
    collect(.object(document))
    let known = Set(schemas.keys.map { "#/components/schemas/\($0)" })
    #expect(found.isSuperset(of: known))
    #expect(found.subtracting(known).isSubset(of: errors.keys.map { "#/components/errors/\($0)" }))
    #expect(found.contains("#/components/schemas/ServiceDescription"))
  }

  @Test("names are noun.verb and stand once in the list")
  func names() {
    let names =
      ProtocolContents.clientCalls.map { $0.name } + ProtocolContents.daemonCalls.map { $0.name }
      + ProtocolContents.notifications.map { $0.name }
    #expect(Set(names).count == names.count)
    for name in names { #expect(name.split(separator: ".").count == 2, "\(name)") }
  }

  @Test("a method's params and result are described as its types are")
  func method() throws {
    guard case .object(let document) = try OpenRPC.description(DocComments()).document,
      case .array(let methods)? = document["methods"]
    else {
      Issue.record("no methods")
      return
    }
    let read = methods.first { if case .object(let method) = $0 { method["name"] == "gatt.read" } else { false } }
    guard case .object(let method)? = read else {
      Issue.record("no gatt.read")
      return
    }
    #expect(method["x-sender"] == "client")
    let reference = [
      "peripheral": "GATTRead.Params", "force": "GATTRead.Params", "handle": "AttributePath",
      "characteristic": "AttributePath",
      "service": "AttributePath", "descriptor": "AttributePath", "index": "AttributePath",
    ]
    let comments = try DocComments()
    var members: [JSONValue] = []
    let parts: [(String, JSONValue)] = [
      ("peripheral", ["type": "string"]), ("handle", ["type": "integer", "minimum": 1, "maximum": 65535]),
      ("characteristic", ["$ref": "#/components/schemas/UUID"]), ("service", ["$ref": "#/components/schemas/UUID"]),
      ("descriptor", ["$ref": "#/components/schemas/UUID"]), ("index", ["type": "integer", "minimum": 0]),
      ("force", ["type": "boolean"]),
    ]
    for (name, schema) in parts {
      let words = try #require(comments.member("\(reference[name] ?? "").\(name)"))
      members.append([
        "name": .text(name), "required": .bool(name == "peripheral"), "schema": schema, "description": .text(words),
      ])
    }
    #expect(method["params"] == .array(members))
  }
}
