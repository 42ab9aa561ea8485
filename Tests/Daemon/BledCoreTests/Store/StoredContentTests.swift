import Adapter
import BledRPC
import Bluetooth
import FoundationEssentials
import GATT
import Testing

@testable import BledCore

/// Files of the store with a valid checksum and nonsensical content: they are read as far as they make sense,
/// or put aside, and nothing in them is followed into the impossible.
@Suite struct StoredContentTests {
  private let scheduler = VirtualScheduler()
  private let storage: MemoryStorage

  init() { storage = MemoryStorage(scheduler: scheduler) }

  /// Any JSON.
  private indirect enum JSON: Codable, Sendable {
    case null
    case bool(Bool)
    case number(Double)
    case text(String)
    case list([JSON])
    case object([String: JSON])

    init(from decoder: any Decoder) throws {
      let container = try decoder.singleValueContainer()
      if container.decodeNil() {
        self = .null
      } else if let bool = try? container.decode(Bool.self) {
        self = .bool(bool)
      } else if let number = try? container.decode(Double.self) {
        self = .number(number)
      } else if let text = try? container.decode(String.self) {
        self = .text(text)
      } else if let list = try? container.decode([JSON].self) {
        self = .list(list)
      } else {
        self = .object(try container.decode([String: JSON].self))
      }
    }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.singleValueContainer()
      switch self {
      case .null: try container.encodeNil()
      case .bool(let bool): try container.encode(bool)
      case .number(let number): try container.encode(number)
      case .text(let text): try container.encode(text)
      case .list(let list): try container.encode(list)
      case .object(let members): try container.encode(members)
      }
    }

    /// The replacements for each value, one at a time.
    private static let replacements: [JSON] =
      [.null, .bool(true), .list([]), .object([:])]
      + [-1, 0, 1, 2, 0.5, 255, 65_535, 65_536, 1e10, 1e300].map { .number($0) }
      + ["", "x", "00", "ffff", "00000000-0000-0000-0000-000000000000", "a\u{300}\u{316}"].map { .text($0) }

    /// This value with one of those in it replaced, doubled or left out.
    var mutations: [JSON] {
      switch self {
      case .list(let list):
        let inner = list.indices.flatMap { index in
          list[index].mutations.map { mutation in
            var list = list
            list[index] = mutation
            return JSON.list(list)
          }
        }
        return Self.replacements + inner + [.list(list + list), .list(list.reversed())]
      case .object(let members):
        let inner = members.flatMap { name, value in
          value.mutations.map { mutation in JSON.object(members.merging([name: mutation]) { $1 }) }
            + [.object(members.filter { $0.key != name })]
        }
        return Self.replacements + inner
      default: return Self.replacements
      }
    }
  }

  private func put(_ json: String, in name: String) {
    storage.files[name] = DocumentFormat.encode(Array(json.utf8), name: name, version: 1)
  }

  /// A daemon that starts with these files.
  private func restart(limits: Limits = Limits()) -> World {
    let copy = MemoryStorage(scheduler: scheduler)
    copy.files = storage.files
    let world = World(limits: limits, scheduler: scheduler, storage: copy)
    for slot in world.daemon.adapters.slots { slot.hasWorked = false }
    world.adapter.change(to: .on)
    world.settle()
    return world
  }

  /// A world that meets the device, and reads its restored state.
  private func start() throws -> World {
    let world = restart()
    let belt = world.peer()
    try belt.furnish()
    if world.adapter.pendingConnections.contains(belt.address) {
      world.adapter.bringUp(belt).protect(LinkSecurity(level: 2, keySize: 16))
    }
    world.settle()
    let client = world.client(user: 5)
    _ = try client.call(SessionOpen.self, .init(restore: "app"))
    _ = try client.result(PeripheralList.self, .init())
    world.settle()
    return world
  }

  /// The documents of a daemon with a session that holds something of each kind.
  private func furnish() throws {
    let world = World(scheduler: scheduler, storage: storage)
    let belt = world.peer()
    try belt.furnish()
    let client = world.client(user: 5)
    _ = try client.result(SessionOpen.self, .init(name: "app", restore: "app", keep: 600))
    let peripheral = try world.connect(client, belt).peripheral
    try world.subscribe(client, peripheral, belt.handle(of: 0x2A37))
    _ = try client.result(ScanStart.self, .init(services: [0x180D]))
    let battery = ServiceToPublish(
      uuid: 0x180F,
      characteristics: [.init(uuid: 0x2A19, properties: ["read", "notify"], value: HexBytes([1]))])
    let service = try client.result(ServiceAdd.self, .init(service: battery)).service
    _ = try client.call(AdvertisingStart.self, .init(name: "App", services: [0x180F]))
    var bond = Bond(local: world.adapter.information.address, peer: belt.address)
    bond.add(
      LongTermKey(
        value: [UInt8](repeating: 5, count: 16), size: 16, diversifier: 0, random: 0, isAuthenticated: false,
        isSecureConnections: true, role: .central))
    world.daemon.setPairing(PairingPolicy(standard: .justWorks))
    world.adapter.onEvent?(.pairing(belt.address, .bonded(bond)))
    world.adapter.quirkKeeper?.quirks.learn(
      .exclusion(.connecting, beside: .scanning), of: .init(modalias: "usb:v0A12", company: 10, revision: 2), at: 1000)
    let descriptor = try #require(service.characteristics?.first?.descriptors?.first?.handle)
    _ = belt.start(.subscribe(descriptor: descriptor, .notification))
    scheduler.advance(by: .seconds(12))
    #expect(storage.files.keys.sorted() == ["bonds", "clients", "peripherals", "quirks", "services", "sessions"])
  }

  @Test(
    "Whatever one value in a file is, the daemon starts and answers",
    arguments: ["bonds", "clients", "peripherals", "quirks", "services", "sessions"])
  func mutations(of name: String) throws {
    try furnish()
    let content = try DocumentFormat.decode(try #require(storage.files[name]), name: name, version: 1)
    let mutations = try JSONDecoder().decode(JSON.self, from: Data(content)).mutations
    #expect(mutations.count > 100)
    for mutation in mutations {
      let octets = [UInt8](try JSONEncoder().encode(mutation))
      storage.files[name] = DocumentFormat.encode(octets, name: name, version: 1)
      let world = try start()
      #expect(world.daemon.sessions.count <= 3)
    }
  }

  private static let marks =
    "a" + String(repeating: "\u{300}", count: 100_000) + String(repeating: "\u{316}", count: 100_000)

  private static func session(_ identifier: String, user: Int, state: String = "\"scan\":{}") -> String {
    """
    {"user":\(user),"group":\(user),"groups":[100],"identifier":"\(identifier)","name":"","background":false,\
    "state":{"since":0,"peripherals":[],"services":[],"advertisements":[],"droppedReports":0,"droppedValues":0,\
    \(state)}}
    """
  }

  @Test("As many sessions are restored as may be opened", .timeLimit(.minutes(10)))
  func manySessions() throws {
    var limits = Limits()
    limits.total[.sessions] = 50
    let same = (0..<1000).map { _ in Self.session("app", user: 5) }
    let ofUser = (0..<1000).map { Self.session("app\($0)", user: 6) }
    let users = (0..<1000).map { Self.session("app", user: 7 + $0) }
    put("{\"sessions\":[\((same + ofUser + users).joined(separator: ","))]}", in: "sessions")
    let sessions = restart(limits: limits).daemon.sessions
    #expect(sessions.count == 50)
    #expect(sessions.count { $0.user == 6 } == Restorations.maximumPerUser)
    #expect(sessions.count { $0.user == 5 } == 1)
  }

  @Test("Strings that are slow to compare are not compared", .timeLimit(.minutes(10)))
  func slowStrings() throws {
    let device = """
      {"peripheral":"6B1C4F5E-0000-4000-8000-000000000001","address":"C0:00:00:00:00:01","addressType":"random",\
      "adapter":"hci0"}
      """
    for (place, text) in [
      ("6B1C4F5E-0000-4000-8000-000000000001", Self.marks), ("C0:00:00:00:00:01", Self.marks), ("random", Self.marks),
      ("hci0", Self.marks), ("\"hci0\"", "\"hci0\",\"name\":\"\(Self.marks)\""),
      ("\"hci0\"", "\"hci0\",\"\(Self.marks)\":1"),
    ] {
      let records = device.replacing(place, with: text)
      put("{\"peripherals\":[\(records)]}", in: "peripherals")
      let world = try start()
      for device in try world.client().result(PeripheralList.self, .init()).peripherals {
        #expect((device.name?.utf8.count ?? 0) <= 248)
      }
    }
    put("{\"sessions\":[\(Self.session(Self.marks, user: 5)),\(Self.session("app", user: 5))]}", in: "sessions")
    #expect(restart().daemon.sessions.count == 1)
    put("{\"sessions\":[\(Self.session("app", user: 5, state: "\"\(Self.marks)\":1"))]}", in: "sessions")
    _ = try start()
  }

  @Test("Devices that occur twice are read once, and no more are kept than were written")
  func manyDevices() throws {
    let records = (0..<2000).map { number in
      let last = String(number % 1000 + 1000, radix: 16)
      return """
        {"peripheral":"6B1C4F5E-0000-4000-8000-000000000\(last)",\
        "address":"C0:00:00:00:0\(last.prefix(1)):\(last.suffix(2))","addressType":"random","adapter":"hci9","cache":{"hash":"00","attributes":"5300ffff0000"}}
        """
    }
    put("{\"peripherals\":[\(records.joined(separator: ","))]}", in: "peripherals")
    let world = try start()
    #expect(try world.client().result(PeripheralList.self, .init()).peripherals.count == 256)
  }

  @Test("Handles that nothing has, and ranges that end before they start")
  func handles() throws {
    let uuid = "\"uuid\":\"180D\""
    let characteristic = "{\"handle\":5,\"end\":1,\"uuid\":\"2A37\",\"properties\":[\"read\"],\"descriptors\":[]}"
    let services = [(0, 0), (9, 3), (65_535, 0), (1, 65_535), (1, 65_535)].map { start, end in
      """
      {"handle":\(start),"end":\(end),\(uuid),"primary":true,"includes":[],"characteristics":[\(characteristic)]}
      """
    }
    let subscriptions = (0...65_535).map { "\($0)" } + ["3", "3", "3"]
    let device = """
      {"peripheral":"x","address":"C0:00:00:00:00:01","addressType":"random","adapter":"hci0","state":"connected",\
      "mtu":-1,"services":[\(services.joined(separator: ","))],"subscriptions":[\(subscriptions.joined(separator: ","))]}
      """
    let published = [0, 1, 65_535, 65_535].map { handle in
      """
      {"service":{"handle":\(handle),"end":0,\(uuid),"primary":true},"subscribers":[],\
      "definition":{\(uuid),"includes":[0,1,65535,9],"characteristics":[]}}
      """
    }
    let state = """
      "peripherals":[\(device),\(device)],"services":[\(published.joined(separator: ","))],
      """
    let session = Self.session("app", user: 5).replacing("\"peripherals\":[],\"services\":[],", with: state)
    put("{\"sessions\":[\(session)]}", in: "sessions")
    let world = try start()
    #expect(world.daemon.sessions.contains { $0.name == "" && $0.user == 5 })
  }
}
