import Adapter
import BledRPC
import Bluetooth
import FoundationEssentials
import Glibc
import TestSupport
import Testing

@testable import BledCore
@testable import openrpc

/// Lines with octets meant to cost the daemon time, or to pass for something else.
@Suite struct HostileLineTests {
  /// Text that takes Swift seconds to compare: combining characters of two classes, in the wrong order.
  private static func bomb(_ octets: Int) -> String {
    "a" + String(repeating: "\u{300}", count: octets / 4) + String(repeating: "\u{316}", count: octets / 4)
  }

  /// Maximum processor time for a line in a debug build; under a sanitizer (make test-fast SANITIZE=…) everything takes
  /// longer.
  private static let maximum = Duration.seconds(getenv("SANITIZE") == nil ? 6 : 30)

  /// The answer to a line of a client of root, which must be immediate.
  private func answer(to line: String, from client: TestClient) -> [RPCMessage.Kind] {
    client.forget()
    let time = processorTime {
      client.send(line)
      client.drain()
    }
    #expect(time < Self.maximum, "\(line.utf8.count) octets took \(time): \(line.excerpt)")
    return client.messages.map(\.kind)
  }

  /// Lines with a text at each place where one is compared, looked up or parsed.
  private static func lines(with text: String) -> [String] {
    func call(_ method: String, _ params: String) -> String {
      #"{"jsonrpc":"2.0","id":7,"method":"\#(method)","params":\#(params)}"#
    }
    return [
      #"{"jsonrpc":"2.0","id":7,"method":"\#(text)"}"#,
      #"{"jsonrpc":"\#(text)","id":7,"method":"adapter.list"}"#,
      #"{"jsonrpc":"2.0","id":7,"\#(text)":1,"method":"adapter.list"}"#,
      call("adapter.list", #"{"\#(text)":1}"#),
      call("session.open", #"{"name":"\#(text)"}"#),
      call("session.open", #"{"restore":"\#(text)"}"#),
      call("session.end", #"{"restore":"\#(text)"}"#),
      call("adapter.power", #"{"on":true,"adapter":"\#(text)"}"#),
      call("pairing.register", #"{"capability":"\#(text)"}"#),
      call("pairing.forget", #"{"address":"\#(text)"}"#),
      call("peripheral.pair", #"{"peripheral":"\#(text)"}"#),
      call(
        "pairing.import",
        #"{"adapterAddress":"\#(text)","address":"\#(text)","addressType":"\#(text)","longTermKeys":[]}"#),
      call(
        "pairing.import",
        #"{"adapterAddress":"00:AA:01:00:00:00","address":"00:AA:01:00:00:00","addressType":"\#(text)","longTermKeys":[]}"#
      ),
      call("pairing.readOutOfBand", #"{"adapter":"\#(text)"}"#),
      call("pairing.setOutOfBand", #"{"address":"\#(text)","addressType":"\#(text)"}"#),
      call("pairing.setOutOfBand", #"{"address":"00:AA:01:00:00:00","addressType":"\#(text)"}"#),
      call("scan.start", #"{"adapter":"\#(text)"}"#),
      call("scan.start", #"{"name":"\#(text)"}"#),
      call("scan.start", #"{"address":"\#(text)"}"#),
      call("scan.start", #"{"services":["\#(text)"]}"#),
      call("scan.start", #"{"filters":[{"name":"\#(text)","wholeName":true}]}"#),
      call("scan.start", #"{"filters":[{"name":"\#(text)","ignoreCase":true}]}"#),
      call("scan.start", #"{"filters":[{"services":["\#(text)"]}]}"#),
      call("scan.start", #"{"filters":[{"manufacturer":{"company":76,"data":"\#(text)","mask":"\#(text)"}}]}"#),
      call("scan.start", #"{"filters":[{"serviceData":{"uuid":"\#(text)"}}]}"#),
      call("scan.start", #"{"filters":[{"pattern":{"type":255,"data":"\#(text)"}}]}"#),
      call("scan.start", #"{"filters":[{"addressKinds":["\#(text)"]}]}"#),
      call("scan.start", #"{"decode":true,"keys":[{"address":"\#(text)","key":""}]}"#),
      call("scan.start", #"{"decode":true,"keys":[{"address":"C0:00:00:00:00:01","key":"\#(text)"}]}"#),
      call("peripheral.connect", #"{"peripheral":"\#(text)"}"#),
      call("peripheral.connect", #"{"address":"\#(text)"}"#),
      call("peripheral.connect", #"{"address":"C0:00:00:00:00:01","addressType":"\#(text)"}"#),
      call("peripheral.connect", #"{"address":"C0:00:00:00:00:01","adapter":"\#(text)"}"#),
      call("peripheral.connect", #"{"name":"\#(text)"}"#),
      call("peripheral.connect", #"{"namePrefix":"\#(text)"}"#),
      call("peripheral.connect", #"{"service":"\#(text)"}"#),
      call("peripheral.disconnect", #"{"name":"\#(text)"}"#),
      call("peripheral.disconnect", #"{"namePrefix":"\#(text)"}"#),
      call("peripheral.disconnect", #"{"address":"\#(text)"}"#),
      call("peripheral.disconnect", #"{"address":"C0:00:00:00:00:01","addressType":"\#(text)"}"#),
      call("peripheral.forget", #"{"peripheral":"\#(text)"}"#),
      call("peripheral.parameters", #"{"peripheral":"\#(text)"}"#),
      call("peripheral.setParameters", #"{"peripheral":"\#(text)","parameters":{"latency":1}}"#),
      call("peripheral.setPHY", #"{"peripheral":"p","phy":"\#(text)"}"#),
      call("peripheral.connect", #"{"address":"C0:00:00:00:00:01","phy":"\#(text)"}"#),
      call("scan.start", #"{"phys":["\#(text)"]}"#),
      call("gatt.read", #"{"peripheral":"\#(text)","handle":1}"#),
      call("gatt.read", #"{"peripheral":"p","characteristic":"\#(text)"}"#),
      call("gatt.acquire", #"{"peripheral":"\#(text)","handle":1}"#),
      call("gatt.acquire", #"{"peripheral":"p","characteristic":"\#(text)"}"#),
      call("capture.start", #"{"format":"\#(text)"}"#),
      call("capture.start", #"{"adapter":"\#(text)"}"#),
      call("gatt.readUsingUUID", #"{"peripheral":"\#(text)","uuid":"2A37"}"#),
      call("gatt.readMultiple", #"{"peripheral":"\#(text)","attributes":[]}"#),
      call("gatt.writeReliably", #"{"peripheral":"\#(text)","writes":[]}"#),
      call("gatt.serverFeatures", #"{"peripheral":"\#(text)"}"#),
      call("gatt.write", #"{"peripheral":"p","handle":1,"value":"\#(text)"}"#),
      call("server.setLatency", #"{"central":"\#(text)","latency":"low"}"#),
      call("server.setLatency", #"{"central":"c","latency":"\#(text)"}"#),
      call("server.acquire", #"{"central":"\#(text)","handle":1}"#),
      call("server.notify", #"{"handle":1,"value":"","centrals":["\#(text)"]}"#),
      call("server.notifyMultiple", #"{"values":[{"handle":1,"value":"\#(text)"}],"centrals":["\#(text)"]}"#),
      call("l2cap.publish", #"{"adapter":"\#(text)"}"#),
      call("l2cap.publish", #"{"security":"\#(text)"}"#),
      call("l2cap.publish", #"{"mode":"\#(text)"}"#),
      call("l2cap.unpublish", #"{"psm":128,"adapter":"\#(text)"}"#),
      call("l2cap.open", #"{"peripheral":"\#(text)","psm":128}"#),
      call("l2cap.open", #"{"peripheral":"p","psm":128,"security":"\#(text)"}"#),
      call("l2cap.open", #"{"peripheral":"p","psm":128,"mode":"\#(text)"}"#),
      call("periodic.sync", #"{"peripheral":"\#(text)"}"#),
      call("periodic.sync", #"{"peripheral":"C0:00:00:00:00:01","sid":1,"addressType":"\#(text)"}"#),
      call("periodic.sync", #"{"peripheral":"C0:00:00:00:00:01","sid":1,"adapter":"\#(text)"}"#),
      call("periodic.stop", #"{"peripheral":"\#(text)"}"#),
      call("advertising.start", #"{"adapter":"\#(text)"}"#),
      call("advertising.start", #"{"name":"\#(text)"}"#),
      call("advertising.start", #"{"serviceData":{"\#(text)":"00"}}"#),
      call("advertising.start", #"{"manufacturerData":"\#(text)"}"#),
      call("advertising.start", #"{"uri":"\#(text)"}"#),
      call("advertising.start", #"{"solicitedServices":["\#(text)"]}"#),
      call("advertising.start", #"{"structures":[{"type":1,"data":"\#(text)"}]}"#),
      call("advertising.start", #"{"directedTo":"\#(text)"}"#),
      call("advertising.start", #"{"directedTo":"C0:00:00:00:00:01","directedToType":"\#(text)"}"#),
      call("advertising.start", #"{"ownAddress":"\#(text)"}"#),
      call("advertising.start", #"{"extended":true,"primaryPHY":"\#(text)"}"#),
      call("advertising.start", #"{"extended":true,"secondaryPHY":"\#(text)"}"#),
      call(
        "service.add", #"{"service":{"uuid":"180D","characteristics":[{"uuid":"2A37","properties":["\#(text)"]}]}}"#),
      call(
        "service.add",
        #"{"service":{"uuid":"180D","characteristics":[{"uuid":"2A37","properties":[],"permissions":["\#(text)"]}]}}"#),
      call("service.add", #"{"service":{"uuid":"\#(text)"}}"#),
    ]
  }

  @Test("Text that Swift compares slowly is answered at once, wherever it is", arguments: [48, 300])
  func slowText(kibibytes: Int) {
    let world = World()
    let text = Self.bomb(kibibytes << 10)
    for line in Self.lines(with: text) {
      // A client of its own: `restore` is allowed in the first call only.
      let kinds = answer(to: line, from: world.client())
      let answers = kinds.filter { kind in
        switch kind {
        case .success(.number(7)), .failure(.number(7)?, _): true
        default: false
        }
      }
      let isPending = line.contains("advertising.start") && line.contains("\"name\"")
      #expect(answers.count == (isPending ? kinds.count : 1), "\(kinds.count) answers to \(line.excerpt)")
    }
  }

  @Test("An answer with such text is taken at once", arguments: [48, 300])
  func slowAnswers(kibibytes: Int) throws {
    let world = World()
    let text = Self.bomb(kibibytes << 10)
    let client = world.client()
    for line in [
      #"{"jsonrpc":"2.0","id":77,"error":{"code":1,"message":"","data":{"domain":"\#(text)","code":1,"name":""}}}"#,
      #"{"jsonrpc":"2.0","id":"\#(text)","result":{}}"#, #"{"jsonrpc":"2.0","id":77,"result":{"\#(text)":1}}"#,
    ] {
      _ = answer(to: line, from: client)
    }
    #expect(try client.result(AdapterList.self, Empty()).adapters.count == 1)
  }

  @Test("Names that Swift considers equal are different names")
  func equivalentNames() throws {
    let world = World()
    let (composed, decomposed) = ("caf\u{E9}", "cafe\u{301}")
    #expect(composed == decomposed)
    let first = world.client(user: 1000)
    let opened = try first.result(SessionOpen.self, .init(restore: composed))
    _ = try first.result(ScanStart.self, .init(services: [0x180D]))
    first.die()
    let second = world.client(user: 1000)
    let other = try second.result(SessionOpen.self, .init(restore: decomposed))
    #expect(other.restored == nil && other.session != opened.session)
    #expect(try second.error(SessionEnd.self, .init(restore: decomposed))?.data?.name == "alreadyInProgress")
    let third = world.client(user: 1000)
    #expect(try third.result(SessionOpen.self, .init(restore: composed)).restored?.scan?.services == [0x180D])
    // KELVIN SIGN is equal to K.
    let kinds = answer(to: #"{"jsonrpc":"2.0","id":7,"method":"adapter.list","params":{},"\u212A":1}"#, from: third)
    guard case .success? = kinds.first else { return #expect(Bool(false), "\(kinds)") }
  }

  @Test("Such names stay different in the store")
  func equivalentNamesInTheStore() throws {
    let scheduler = VirtualScheduler()
    let storage = MemoryStorage(scheduler: scheduler)
    let names = ["caf\u{E9}", "cafe\u{301}"]
    do {
      let world = World(scheduler: scheduler, storage: storage)
      for (number, name) in names.enumerated() {
        let client = world.client(user: 1000)
        _ = try client.result(SessionOpen.self, .init(restore: name))
        _ = try client.result(ScanStart.self, .init(services: [BluetoothUUID(UInt16(number + 1))]))
        client.die()
      }
      world.daemon.stop {}
      world.settle()
    }
    let world = World(scheduler: scheduler, storage: storage)
    for (number, name) in names.enumerated() {
      let restored = try world.client(user: 1000).result(SessionOpen.self, .init(restore: name)).restored
      #expect(restored?.scan?.services == [BluetoothUUID(UInt16(number + 1))])
    }
  }

  @Test("A line has a limit of its method, which the error names; service.add has a larger one")
  func longLines() {
    let world = World()
    let client = world.client()
    func line(_ method: String, _ octets: Int) -> String {
      let start = #"{"jsonrpc":"2.0","id":7,"method":"\#(method)","params":{"x-a":""#
      return start + String(repeating: "x", count: octets - start.utf8.count - 3) + "\"}}"
    }
    func error(_ line: String) -> RPCError? {
      guard case .failure(.number(7)?, let error)? = answer(to: line, from: client).first else { return nil }
      return error
    }
    #expect(error(line("adapter.list", 64 << 10)) == nil)
    let tooLong = error(line("adapter.list", 64 << 10 + 1))
    #expect(tooLong?.code == RPCError.invalidRequest)
    #expect(tooLong?.message == "the line has 65537 octets; the limit of adapter.list is 65536")
    #expect(error(line("service.add", 512 << 10))?.message == "params.service: missing")
    #expect(error(line("service.add", 512 << 10 + 1))?.message.contains("the limit of service.add is 524288") == true)
    #expect(error(line("no.method", 1 << 20))?.code == RPCError.methodNotFound)
    #expect(error(line("adapter.list", 1 << 20))?.code == RPCError.invalidRequest)
    #expect(client.messages.count == 1)
  }

  @Test("The longest lines of each list and table are handled in a time that grows with their length alone")
  func longLists() throws {
    let world = World()
    let client = world.client()
    let peer = world.peer()
    try peer.furnish()
    let peripheral = try world.connect(client, peer).peripheral
    for line in LongLines.all(peripheral: peripheral) {
      let time = processorTime { client.send(line) }
      // A release build takes milliseconds.
      #expect(time < Self.maximum * 3, "\(line.utf8.count) octets took \(time): \(line.prefix(160))")
    }
    world.settle()
    client.drain()
    #expect(client.messages.count >= LongLines.all(peripheral: peripheral).count)
  }

  @Test("The lists of a message have a limit")
  func elements() throws {
    let client = World().client()
    let list = Array(repeating: "1", count: 8193).joined(separator: ",")
    client.send(
      #"{"jsonrpc":"2.0","id":7,"method":"service.add","params":{"service":{"uuid":"180D","includes":[\#(list)]}}}"#)
    #expect(
      try client.error(of: 7, ServiceAdd.self)?.message
        == "params.service.includes: more than 8192 elements in all lists together")
  }

  @Test("What rpc.discover returns is made once, and without an id not at all")
  func discovery() throws {
    let world = World()
    let client = world.client()
    for _ in 0..<2 { client.send(#"{"jsonrpc":"2.0","method":"rpc.discover"}"#) }
    client.drain()
    #expect(client.messages.isEmpty)
    _ = try client.result(RPCDiscover.self, Empty())
    // About twenty of them fit into the session's queue.
    let time = processorTime {
      for _ in 0..<12 { client.send(#"{"jsonrpc":"2.0","id":7,"method":"rpc.discover"}"#) }
    }
    #expect(time < .milliseconds(500), "\(time)")
    client.drain()
    #expect(client.messages.count == 13)
    #expect(try client.result(RPCDiscover.self, Empty()) == OpenRPC.description(DocComments()).document)
    let wrong = answer(to: #"{"jsonrpc":"2.0","id":7,"method":"rpc.discover","params":[]}"#, from: client)
    guard case .failure(_, let error)? = wrong.first else { return #expect(Bool(false), "\(wrong)") }
    #expect(error.code == RPCError.invalidParams)
  }
}

/// Lines of 64 KiB, or of a method's limit, with as many elements as fit.
enum LongLines {
  static func all(peripheral: String) -> [String] {
    func call(_ method: String, _ params: String) -> String {
      #"{"jsonrpc":"2.0","id":7,"method":"\#(method)","params":\#(params)}"#
    }
    func list(_ element: String, _ octets: Int = 65_000) -> String {
      "[" + Array(repeating: element, count: octets / (element.utf8.count + 1)).joined(separator: ",") + "]"
    }
    func table(_ value: String) -> String {
      "{" + (0..<5000).map { "\"\($0)\":\(value)" }.joined(separator: ",") + "}"
    }
    func nested(_ count: Int) -> String {
      String(repeating: "[", count: count) + String(repeating: "]", count: count)
    }
    let flags = String(repeating: "\u{1F1E9}", count: 16_000)
    let large = 520_000
    return [
      call("scan.start", #"{"services":\#(list("\"180D\""))}"#),
      call("scan.start", #"{"solicitedServices":\#(list("\"180D\""))}"#),
      call("scan.start", #"{"filters":\#(list(#"{"connectable":true}"#))}"#),
      call("scan.start", #"{"filters":[{"services":\#(list("\"180D\""))}]}"#),
      call("scan.start", #"{"filters":[{"addressKinds":\#(list("\"public\""))}]}"#),
      call(
        "scan.start", #"{"filters":[{"pattern":{"type":255,"data":"\#(String(repeating: "00", count: 32_000))"}}]}"#),
      call("scan.start", #"{"services":\#(list("1"))}"#), call("adapter.list", #"{"x":\#(list("1"))}"#),
      call("adapter.list", #"{"x":\#(list("[]"))}"#), call("adapter.list", #"{"x":\#(list("{}"))}"#),
      call("adapter.list", #"{"x":\#(nested(32_000))}"#), call("adapter.list", table("1")),
      call("advertising.start", #"{"services":\#(list("\"180D\""))}"#),
      call("advertising.start", #"{"serviceData":\#(table("\"00\""))}"#),
      call("advertising.start", #"{"name":"\#(flags)"}"#),
      call("gatt.discoverServices", #"{"peripheral":"\#(peripheral)","services":\#(list("\"180D\""))}"#),
      call("gatt.discoverCharacteristics", #"{"peripheral":"\#(peripheral)","handle":1,"uuids":\#(list("\"180D\""))}"#),
      call(
        "gatt.readMultiple", #"{"peripheral":"\#(peripheral)","attributes":\#(list(#"{"characteristic":"2A37"}"#))}"#),
      call(
        "gatt.writeReliably",
        #"{"peripheral":"\#(peripheral)","writes":\#(list(#"{"characteristic":"2A37","value":""}"#))}"#),
      call("server.notifyMultiple", #"{"values":\#(list(#"{"handle":1,"value":""}"#))}"#),
      call("server.notify", #"{"handle":1,"value":"","centrals":\#(list("\"c\""))}"#),
      call("service.add", #"{"service":{"uuid":"180D","includes":\#(list("1", large))}}"#),
      call("service.add", #"{"service":{"uuid":"180D","includes":\#(list("65535", large))}}"#),
      call(
        "service.add",
        #"{"service":{"uuid":"180D","characteristics":\#(list(#"{"uuid":"2A37","properties":[]}"#, large))}}"#),
      call(
        "service.add",
        #"{"service":{"uuid":"180D","characteristics":[{"uuid":"2A37","properties":\#(list("\"read\"", large))}]}}"#),
      call(
        "service.add",
        #"{"service":{"uuid":"180D","characteristics":[{"uuid":"2A37","properties":["notify"],"permissions":"#
          + list("\"readable\"", large) + "}]}}"),
      call(
        "service.add",
        #"{"service":{"uuid":"180D","characteristics":[{"uuid":"2A37","properties":["notify"],"descriptors":"#
          + list(#"{"uuid":"2901","value":""}"#, large) + "}]}}"),
    ]
  }
}
