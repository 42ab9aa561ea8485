import Adapter
import BledRPC
import Bluetooth
import GATT
import Logging
import TestSupport
import Testing

@testable import BledCore

/// A daemon under virtual time, with one scripted adapter and as many clients as a test wants.
struct World {
  let scheduler: VirtualScheduler
  let daemon: Daemon
  let adapter: ScriptedAdapter

  /// The configuration's policy on a system with group 100 as the group bluetooth. The daemon is user 900.
  static func policy(_ configuration: Configuration.Policy = .init()) -> Policy {
    Policy(configuration, accounts: Accounts(users: ["kiosk": 1001], groups: ["bluetooth": 100]), ownUser: 900)
  }

  init(
    identity: Daemon.Identity = .init(name: "bled test"), policy: Policy = World.policy(), limits: Limits = Limits(),
    restoration: RestorationSettings = RestorationSettings(), scheduler: VirtualScheduler = VirtualScheduler(),
    storage: (any DocumentStorage)? = nil, log: LogLines? = nil, commit: String? = nil
  ) {
    self.scheduler = scheduler
    let logger = log?.logger ?? Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    daemon = Daemon(
      identity: identity, policy: policy, limits: limits, scheduler: scheduler, logger: logger,
      restoration: restoration, storage: storage, commit: commit)
    adapter = ScriptedAdapter(scheduler: scheduler)
    daemon.add(adapter)
  }

  /// A client of root.
  func client() -> TestClient { TestClient(daemon) }

  /// A client of this user.
  func client(user: UInt32, process: Int32 = 42, groups: [UInt32] = [100]) -> TestClient {
    TestClient(
      daemon,
      credentials: PeerCredentials(
        process: process, user: user, group: user, groups: groups, program: "prog\(user)"))
  }

  func peer(_ address: String = "C0:00:00:00:00:01") -> ScriptedPeer { ScriptedPeer(address, scheduler: scheduler) }

  /// Lets a second pass.
  func settle() { scheduler.advance(by: .seconds(1)) }

  /// The client reads until nothing follows.
  func catchUp(_ client: TestClient) {
    client.reads = true
    var count: Int
    repeat {
      count = client.messages.count
      settle()
      client.drain()
    } while client.messages.count != count
  }

  /// Connects a client with a peer, which takes part as soon as a connection to it is requested.
  @discardableResult
  func connect(_ client: TestClient, _ peer: ScriptedPeer) throws -> PeripheralConnect.Result {
    let id = try client.call(PeripheralConnect.self, .init(address: "\(peer.address)", addressType: "random"))
    if adapter.pendingConnections.contains(peer.address) { adapter.bringUp(peer) }
    settle()
    guard let answer = try client.answer(to: id, PeripheralConnect.self) else {
      throw GAPError.timeout.error("the connect was not answered")
    }
    return try answer.get()
  }

  /// Subscribes a client, which discovers the device first.
  func subscribe(_ client: TestClient, _ peripheral: String, _ handle: UInt16) throws {
    let discovery = try client.call(GATTDiscover.self, .init(peripheral: peripheral))
    settle()
    _ = try #require(try client.answer(to: discovery, GATTDiscover.self)).get()
    let call = try client.call(GATTSubscribe.self, .init(peripheral: peripheral, handle: handle))
    settle()
    _ = try #require(try client.answer(to: call, GATTSubscribe.self)).get()
  }
}

extension ScriptedPeer {
  /// Puts a heart rate service and one with a writable, readable, indicating characteristic of 512 octets into the
  /// database.
  /// - Parameter serverFeatures: the octet of Server Supported Features; nil for none.
  func furnish(serverFeatures: UInt8? = nil) throws {
    _ = try database.add(.genericAccess(name: "Peer"))
    _ = try database.add(.genericAttribute(hasHash: database.hasHash, hasEnhancedBearers: serverFeatures != nil))
    if let serverFeatures { _ = database.setValue([serverFeatures], of: handle(of: 0x2B3A)) }
    let body = try database.add(
      ServiceDefinition(
        uuid: 0x180D,
        characteristics: [
          CharacteristicDefinition(uuid: 0x2A37, properties: .notify, value: .stored([0, 60])),
          CharacteristicDefinition(uuid: 0x2A38, properties: .read, value: .stored([1])),
        ]))
    _ = try database.add(
      ServiceDefinition(
        uuid: 0x1815, includes: [body.range.lowerBound],
        characteristics: [
          CharacteristicDefinition(
            uuid: 0x2A56, properties: [.read, .write, .writeWithoutResponse, .indicate],
            value: .stored([UInt8](repeating: 7, count: 512)))
        ]))
  }

  /// The handle of the value of the characteristic of this UUID.
  func handle(of uuid: BluetoothUUID) -> UInt16 {
    database.services.flatMap(\.characteristics).first { $0.uuid == uuid }?.valueHandle ?? 0
  }
}
