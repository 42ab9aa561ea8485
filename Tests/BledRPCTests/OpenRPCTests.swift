import Bluetooth
import FoundationEssentials
import Testing

@testable import BledRPC

@Suite("OpenRPC") struct OpenRPCTests {
  /// The package's folder, found from this file's place in it.
  private var checkedIn: String {
    #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(3).joined(separator: "/")
      + "/docs/openrpc.json"
  }

  @Test("docs/openrpc.json is what the daemon returns; BLED_RECORD=1 regenerates it")
  func checkedInDocument() throws {
    let document = try OpenRPC.document()
    if ProcessInfo.processInfo.environment["BLED_RECORD"] != nil {
      try document.write(to: URL(filePath: checkedIn))
    }
    let stored = try Data(contentsOf: URL(filePath: checkedIn))
    #expect(
      stored == document, "the messages changed: run BLED_RECORD=1 swift test --filter OpenRPC and check the difference"
    )
  }

  @Test("what a method needs is that of its noun; only those that say so are open to everybody")
  func permissions() throws {
    let open = ProtocolContents.clientCalls.filter { $0.permission == nil }.map { $0.name }
    let own = ["adapter.list", "l2cap.close", "rpc.discover", "session.end", "session.list", "session.open"]
    #expect(open.sorted() == own)
    let nouns: [String: Permission] = [
      "scan": .scan, "peripheral": .connect, "gatt": .connect, "service": .serve, "server": .serve,
      "advertising": .advertise, "pairing": .pair, "adapter": .adapters, "session": .sessions, "l2cap": .serve,
      "periodic": .scan,
    ]
    // A channel is opened by whom its device serves.
    let others: [any ClientCall.Type] = [PeripheralPair.self, L2CAPOpen.self]
    for method in ProtocolContents.clientCalls
    where method.permission != nil && !others.contains(where: { $0 == method }) {
      #expect(method.permission == nouns[String(method.name.prefix { $0 != "." })], "\(method.name)")
    }
    #expect(PeripheralPair.permission == .pair && L2CAPOpen.permission == .connect)
    #expect(GATTRead.permission == .connect)
    #expect(ServerNotify.permission == .serve)
  }

  @Test("every reference leads somewhere")
  func references() throws {
    guard case .object(let document) = try OpenRPC.description(),
      case .object(let components)? = document["components"],
      case .object(let schemas)? = components["schemas"]
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
    #expect(found == Set(schemas.keys.map { "#/components/schemas/\($0)" }))
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
    guard case .object(let document) = try OpenRPC.description(), case .array(let methods)? = document["methods"] else {
      Issue.record("no methods")
      return
    }
    let read = methods.first { if case .object(let method) = $0 { method["name"] == "gatt.read" } else { false } }
    guard case .object(let method)? = read else {
      Issue.record("no gatt.read")
      return
    }
    #expect(method["x-sender"] == "client")
    var schemas = SchemaCollection()
    var members: [JSONValue] = [
      ["name": "peripheral", "required": true, "schema": ["type": "string"]],
      ["name": "handle", "required": false, "schema": ["type": "integer", "minimum": 0, "maximum": 65535]],
    ]
    for name in ["characteristic", "service", "descriptor"] {
      members.append(["name": .text(name), "required": false, "schema": try schemas.schema(of: BluetoothUUID.self)])
    }
    members.append(["name": "index", "required": false, "schema": ["type": "integer"]])
    #expect(method["params"] == .array(members))
  }
}
