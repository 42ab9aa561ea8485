import Adapter
import BledRPC
import Bluetooth
import GATT
import Testing

@testable import BledCore

/// Connecting, and operations of several sessions on one link: G3–G9, P2, P14–P17, P28, P29.
@Suite struct CentralBrokerTests {
  private let world = World()
  private let address = "C0:00:00:00:00:01"

  private func requestConnection(_ client: TestClient, timeout: Double? = nil) throws -> Int {
    try client.call(PeripheralConnect.self, .init(address: address, addressType: "random", timeout: timeout))
  }

  @Test("P14, P29: connect by address works without a scan, and the MTU is part of the answer")
  func connect() throws {
    let client = world.client()
    let peer = world.peer()
    let result = try world.connect(client, peer)
    #expect(result.mtu == 247)
    #expect(result.address == address && result.addressType == "random" && result.adapter == "hci0")
    #expect(peer.received.map { $0[0] } == [0x02], "the MTU is asked for, and nothing else")
    let entry = try #require(try client.result(PeripheralList.self, Empty()).peripherals.first)
    #expect(entry.state == "connected" && entry.mine && entry.mtu == 247 && entry.peripheral == result.peripheral)
    let rssi = try client.call(PeripheralRSSI.self, .init(peripheral: result.peripheral))
    world.settle()
    #expect(try client.answer(to: rssi, PeripheralRSSI.self)?.get().rssi == -42)
  }

  @Test("a connect that times out tells why the last attempt failed (stack 3)")
  func lastCause() throws {
    let client = world.client()
    let device = DeviceAddress(value: 0xC000_0000_0001, kind: .random)
    let cause = BluetoothError(domain: .hci, code: 0x0C, name: "commandDisallowed", message: "it is scanning")
    for isRefused in [true, false] {
      let call = try requestConnection(client, timeout: 5)
      world.settle()
      if isRefused { world.adapter.onEvent?(.connectAttemptFailed(device, cause)) }
      world.scheduler.advance(by: .seconds(5))
      let message = try #require(try client.error(of: call, PeripheralConnect.self)).message
      #expect(message.hasSuffix(isRefused ? "within 5.0 s: it is scanning" : "within 5.0 s"), "\(message)")
    }
  }

  @Test("G3, P2: a connect can be cancelled, has a deadline or none, and delays no other")
  func pendingConnects() throws {
    let client = world.client()
    let impatient = try requestConnection(client, timeout: 5)
    let patient = try requestConnection(client)
    world.scheduler.advance(by: .milliseconds(4999))
    #expect(try client.answer(to: impatient, PeripheralConnect.self) == nil)
    world.scheduler.advance(by: .milliseconds(1))
    #expect(try client.error(of: impatient, PeripheralConnect.self)?.data?.name == "timeout")
    #expect(world.adapter.pendingConnections.count == 1)
    let other = world.peer("C0:00:00:00:00:02")
    try world.connect(client, other)
    world.scheduler.advance(by: .seconds(86_400))
    #expect(try client.answer(to: patient, PeripheralConnect.self) == nil)
    _ = try client.result(PeripheralDisconnect.self, .init(address: address))
    #expect(try client.error(of: patient, PeripheralConnect.self)?.data?.name == "cancelled")
    #expect(world.adapter.pendingConnections.isEmpty)
    #expect(try client.notifications(PeripheralDisconnected.self).isEmpty)
  }

  @Test("G9: two sessions share one link, the last one lets it go, each has its own end")
  func sharedLink() throws {
    let first = world.client()
    let second = world.client()
    let requests = [try requestConnection(first), try requestConnection(second)]
    #expect(world.adapter.connectCalls == 1)
    let link = world.adapter.bringUp(world.peer())
    world.settle()
    let id = try #require(try first.answer(to: requests[0], PeripheralConnect.self)).get().peripheral
    #expect(try second.answer(to: requests[1], PeripheralConnect.self)?.get().peripheral == id)
    _ = try first.result(PeripheralDisconnect.self, .init(peripheral: id))
    world.settle()
    #expect(!link.wasDisconnected)
    #expect(try first.notifications(PeripheralDisconnected.self).map(\.reason) == [nil])
    #expect(try second.notifications(PeripheralDisconnected.self).isEmpty)
    #expect(try first.error(GATTRead.self, .init(peripheral: id, handle: 3))?.data?.name == "notConnected")
    second.die()
    world.settle()
    #expect(link.wasDisconnected)
  }

  @Test("P17: everything that is pending on a link fails once, before its end is told")
  func linkLoss() throws {
    let client = world.client()
    let peer = world.peer()
    try peer.furnish()
    let id = try world.connect(client, peer).peripheral
    peer.isMute = true
    let calls = [
      try client.call(GATTDiscover.self, .init(peripheral: id)),
      try client.call(GATTDiscover.self, .init(peripheral: id)),
    ]
    let read = try client.call(GATTRead.self, .init(peripheral: id, handle: 3))
    world.adapter.change(to: .absent)
    for call in calls { #expect(try client.error(of: call, GATTDiscover.self)?.data?.name == "disconnected") }
    #expect(try client.error(of: read, GATTRead.self)?.data?.name == "disconnected")
    #expect(try client.notifications(PeripheralDisconnected.self).count == 1)
    let events = client.messages.compactMap { message -> String? in
      if case .notification(let method) = message.kind { method } else { nil }
    }
    #expect(events == ["peripheral.disconnected", "adapter.changed"])
    world.settle()
    #expect(try client.notifications(PeripheralDisconnected.self).count == 1)
  }

  @Test("P17: a measurement of the signal fails before the end is told, of the link or of the session's part in it")
  func measurementOfALinkThatEnds() throws {
    let (leaver, stayer) = (world.client(), world.client())
    let peer = world.peer()
    let id = try world.connect(leaver, peer).peripheral
    try world.connect(stayer, peer)
    for client in [leaver, stayer] { client.forget() }
    let calls = try [leaver, stayer].map { try $0.call(PeripheralRSSI.self, .init(peripheral: id)) }
    _ = try leaver.result(PeripheralDisconnect.self, .init(peripheral: id))
    #expect(try leaver.error(of: calls[0], PeripheralRSSI.self)?.data?.name == "cancelled")
    #expect(try stayer.answer(to: calls[1], PeripheralRSSI.self) == nil)
    world.adapter.change(to: .absent)
    #expect(try stayer.error(of: calls[1], PeripheralRSSI.self)?.data?.name == "disconnected")
    for client in [leaver, stayer] {
      guard case .failure = client.messages.first?.kind else {
        Issue.record("the end was told before the answer was given")
        continue
      }
    }
    // Late answers of the controller belong to no call.
    world.settle()
    for (client, call) in zip([leaver, stayer], calls) {
      #expect(try client.answer(to: call, PeripheralRSSI.self) != nil)
    }
  }

  @Test("Programs that ask for the signal while it is measured share one measurement; the next ask starts another")
  func sharedMeasurement() throws {
    let clients = [world.client(), world.client(user: 1000)]
    let peer = world.peer()
    let ids = try clients.map { try world.connect($0, peer).peripheral }
    let link = try #require(world.daemon.links.links.first?.link as? ScriptedLink)
    var calls: [(client: TestClient, id: Int)] = []
    for _ in 0..<100 {
      for client in clients { calls.append((client, try client.call(PeripheralRSSI.self, .init(peripheral: ids[0])))) }
    }
    world.settle()
    #expect(link.measurements == 1)
    for call in calls {
      #expect(try call.client.answer(to: call.id, PeripheralRSSI.self)?.get().rssi == -42)
    }
    let next = try clients[0].call(PeripheralRSSI.self, .init(peripheral: ids[0]))
    world.settle()
    #expect(try clients[0].answer(to: next, PeripheralRSSI.self)?.get().rssi == -42)
    #expect(link.measurements == 2)
  }

  @Test("A mute device: its bearer ends after 30 s, the link goes down")
  func muteDevice() throws {
    let client = world.client()
    let peer = world.peer()
    let id = try world.connect(client, peer).peripheral
    peer.isMute = true
    let read = try client.call(GATTRead.self, .init(peripheral: id, handle: 3))
    world.scheduler.advance(by: .seconds(31))
    #expect(try client.error(of: read, GATTRead.self) != nil)
    #expect(try client.notifications(PeripheralDisconnected.self).count == 1)
  }

  @Test("P24: what is awaited outlasts an adapter that goes away; a new request is refused meanwhile, with a remedy")
  func adapterAway() throws {
    let client = world.client()
    let pending = try requestConnection(client)
    world.adapter.change(to: .off)
    world.adapter.change(to: .absent)
    #expect(try client.answer(to: pending, PeripheralConnect.self) == nil)
    #expect(world.adapter.pendingConnections.count == 1)
    let refused = try requestConnection(client)
    #expect(try client.error(of: refused, PeripheralConnect.self)?.data?.name == "adapterAbsent")
    world.adapter.change(
      to: .failed(.init(kind: .inUse, message: "bluetoothd holds it", remedy: "stop bluetooth.service")))
    let failed = try requestConnection(client)
    #expect(try client.error(of: failed, PeripheralConnect.self)?.message.contains("stop bluetooth.service") == true)
    world.adapter.change(to: .on)
    world.adapter.bringUp(world.peer())
    world.settle()
    #expect(try client.answer(to: pending, PeripheralConnect.self)?.get().mtu == 247)
  }

  @Test func whatIsAwaitedOnAnAdapterThatNeverComesOnFails() throws {
    let adapter = ScriptedAdapter(id: "hci1", scheduler: world.scheduler)
    adapter.state = .starting
    world.daemon.add(adapter)
    let client = world.client()
    let pending = try client.call(
      PeripheralConnect.self, .init(address: address, addressType: "random", adapter: "hci1"))
    adapter.change(to: .failed(.init(kind: .inUse, message: "bluetoothd holds it", remedy: "stop it")))
    #expect(try client.error(of: pending, PeripheralConnect.self)?.data?.name == "adapterFailed")
    #expect(adapter.pendingConnections.isEmpty)
  }

  @Test("P24: a kept link comes back by itself, also with its adapter, and its session is told both")
  func reconnect() throws {
    let client = world.client()
    let call = try client.call(
      PeripheralConnect.self, .init(address: address, addressType: "random", reconnect: true))
    let peer = world.peer()
    world.adapter.bringUp(peer)
    world.settle()
    let id = try #require(try client.answer(to: call, PeripheralConnect.self)).get().peripheral
    world.adapter.change(to: .absent)
    let lost = try #require(try client.notifications(PeripheralDisconnected.self).first)
    #expect(lost.reconnecting == true && lost.reason != nil)
    #expect(try client.result(PeripheralList.self, Empty()).peripherals.first?.state == "connecting")
    world.adapter.change(to: .on)
    #expect(world.adapter.pendingConnections.count == 1)
    world.adapter.bringUp(world.peer())
    world.settle()
    let back = try #require(try client.notifications(PeripheralConnected.self).first)
    #expect(back.peripheral == id && back.mtu == 247)
    #expect(try client.result(PeripheralList.self, Empty()).peripherals.first?.mine == true)
    world.adapter.change(to: .off)
    _ = try client.result(PeripheralDisconnect.self, .init(peripheral: id))
    #expect(world.adapter.pendingConnections.isEmpty)
    #expect(try client.notifications(PeripheralDisconnected.self).count == 2)
  }

  @Test("G10, P28: the error about the limit of links names the sessions that use them")
  func connectionLimit() throws {
    let client = world.client()
    _ = try client.result(SessionOpen.self, .init(name: "hoarder"))
    try world.connect(client, world.peer("C0:00:00:00:00:02"))
    let pending = try requestConnection(client)
    let limit = BluetoothError(domain: .hci, code: 0x09, name: "connectionLimitExceeded", message: "")
    let device = try #require(DeviceAddress(address, kind: .random))
    world.adapter.onEvent?(.connectAttemptFailed(device, limit))
    let error = try #require(try client.error(of: pending, PeripheralConnect.self))
    #expect(error.data?.name == "connectionLimitReached")
    #expect(error.message.contains("C0:00:00:00:00:02 (hoarder)"))
  }

  @Test("A limit that is reached without any link ends no request", arguments: [0x09, 0x0D] as [UInt8])
  func limitWithoutLinks(_ code: UInt8) throws {
    let client = world.client()
    let pending = try requestConnection(client)
    let device = try #require(DeviceAddress(address, kind: .random))
    world.adapter.onEvent?(
      .connectAttemptFailed(device, BluetoothError(domain: .hci, code: Int(code), name: "limit", message: "")))
    #expect(try client.answer(to: pending, PeripheralConnect.self) == nil)
    world.adapter.bringUp(world.peer())
    world.settle()
    #expect(try client.answer(to: pending, PeripheralConnect.self)?.get().mtu == 247)
  }

  @Test("P6: an attempt that fails is not the end of the request")
  func failedAttempt() throws {
    let client = world.client()
    let pending = try requestConnection(client)
    let device = try #require(DeviceAddress(address, kind: .random))
    world.adapter.onEvent?(
      .connectAttemptFailed(device, BluetoothError(domain: .hci, code: 0x3E, name: "failed", message: "")))
    world.adapter.bringUp(world.peer())
    world.settle()
    #expect(try client.answer(to: pending, PeripheralConnect.self)?.get().mtu == 247)
  }

  @Test("P6: sessions that wait for a connection that cannot be tried are told why, and it stays pending")
  func waitingConnection() throws {
    let client = world.client(), other = world.client()
    let pending = try requestConnection(client)
    _ = try requestConnection(client)
    let device = try #require(DeviceAddress(address, kind: .random))
    world.adapter.onEvent?(.connectWaiting(device, GAPError.notSupported.error("not beside a link")))
    world.settle()
    let told = try client.notifications(PeripheralConnectWaiting.self)
    #expect(told.map(\.reason.message) == ["not beside a link"] && told.first?.reason.data?.name == "notSupported")
    #expect(try other.notifications(PeripheralConnectWaiting.self).isEmpty)
    world.adapter.bringUp(world.peer())
    world.settle()
    #expect(try client.answer(to: pending, PeripheralConnect.self)?.get().mtu == 247)
  }

  @Test("P18, P20: a link that came to us carries nothing of ours until a session connects, and stays when it lets go")
  func incomingLink() throws {
    let client = world.client()
    let peer = world.peer()
    let link = world.adapter.bringUp(peer, role: .peripheral)
    world.settle()
    #expect(peer.received.isEmpty)
    let id = try world.connect(client, peer).peripheral
    #expect(world.adapter.connectCalls == 0)
    _ = try client.result(PeripheralDisconnect.self, .init(peripheral: id))
    try world.connect(client, peer)
    client.die()
    world.settle()
    #expect(!link.wasDisconnected)
    #expect(peer.received.count == 1, "the MTU is asked for once a link")
  }

  @Test("P27: adapters are chosen by name or address; a device that connects by another one is not awaited any more")
  func severalAdapters() throws {
    let second = ScriptedAdapter(id: "hci1", scheduler: world.scheduler)
    second.information.address = DeviceAddress(value: 0x00AA_0200_0000, kind: .public)
    world.daemon.add(second)
    let client = world.client()
    #expect(try client.result(AdapterList.self, Empty()).adapters.map(\.adapter) == ["hci0", "hci1"])
    _ = try client.result(ScanStart.self, .init(adapter: "00:aa:02:00:00:00"))
    #expect(world.adapter.scans.isEmpty && second.scan != nil)
    _ = try client.result(ScanStart.self, .init())
    #expect(world.adapter.scan != nil && second.scan != nil)
    let pending = try client.call(
      PeripheralConnect.self, .init(address: address, addressType: "random", adapter: "hci1"))
    #expect(second.pendingConnections.count == 1 && world.adapter.pendingConnections.isEmpty)
    // Any other session that wants it joins the pending connection.
    let joined = world.client()
    _ = try joined.call(PeripheralConnect.self, .init(address: address, addressType: "random", adapter: "hci0"))
    #expect(second.pendingConnections.count == 1 && world.adapter.pendingConnections.isEmpty)
    world.adapter.bringUp(world.peer(), role: .peripheral)
    world.settle()
    #expect(try client.answer(to: pending, PeripheralConnect.self)?.get().adapter == "hci0")
    #expect(second.pendingConnections.isEmpty)
    // An existing link is shared, and the answer names its adapter.
    let late = world.client()
    let shared = try late.result(
      PeripheralConnect.self, .init(address: address, addressType: "random", adapter: "hci1"))
    #expect(shared.adapter == "hci0" && second.pendingConnections.isEmpty)
    second.change(to: .absent)
    #expect(try client.notifications(PeripheralDisconnected.self).isEmpty)
  }

  @Test func badRequestsAreRefused() throws {
    let client = world.client()
    for params in [
      PeripheralConnect.Params(), .init(address: "nonsense"),
      .init(address: address, timeout: 0), .init(address: address, timeout: -1),
      .init(address: address, timeout: 1e300),
    ] {
      #expect(try client.error(PeripheralConnect.self, params)?.data?.name == "invalidParameter", "\(params)")
    }
    #expect(try client.error(PeripheralConnect.self, .init(peripheral: "x"))?.data?.name == "unknownDevice")
    #expect(
      try client.error(PeripheralConnect.self, .init(address: address, adapter: "hci9"))?.data?.name
        == "adapterAbsent")
    #expect(world.adapter.connectCalls == 0)
  }
}
