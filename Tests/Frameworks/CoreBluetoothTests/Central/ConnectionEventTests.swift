import BledClient
import CoreBluetooth
import Testing

extension WithDaemon {
  /// `registerForConnectionEvents`: connections of this and of other programs.
  @Suite struct ConnectionEventTests {
    private let daemon: BledProcess
    private let other: Central
    private let watcher: Central

    init() async throws {
      daemon = try await BledProcess()
      other = Central()
      watcher = Central()
      try await watcher.log.next("didUpdateState") { $0.state == .poweredOn }
    }

    @Test("a manager is not told of its own connections, but of another's to the same device") func own() async throws {
      let belt = try await watcher.find("Belt")
      watcher.manager.registerForConnectionEvents(options: [.peripheralUUIDs: [belt.identifier]])
      watcher.manager.connect(belt)
      try await watcher.log.next("didConnect")
      watcher.manager.cancelPeripheralConnection(belt)
      try await watcher.log.next("didDisconnect")
      await watcher.barrier()
      #expect(!watcher.log.pending.contains { $0.name == "connectionEvent" })

      let same = try await other.connected("Belt")
      let made = try await watcher.log.next("connectionEvent")
      #expect(made.connectionEvent == .peerConnected && made.peripheral === belt && made.isOnQueue)
      other.manager.cancelPeripheralConnection(same)
      #expect(try await watcher.log.next("connectionEvent").connectionEvent == .peerDisconnected)
    }

    @Test("those of other programs, by the devices' services; nil ends it (G8)") func others() async throws {
      watcher.manager.registerForConnectionEvents(options: [.serviceUUIDs: [CBUUID(string: "180D")]])
      await watcher.barrier()
      let echo = try await other.connected("Echo")
      let belt = try await other.find("Belt")
      other.manager.connect(belt)
      try await other.log.next("didConnect")
      let made = try await watcher.log.next("connectionEvent")
      #expect(made.connectionEvent == .peerConnected)
      let device = try #require(made.peripheral)
      #expect(device.identifier == belt.identifier)
      #expect(device.name == "Belt")
      // To use it, the program connects to it: the link is shared.
      #expect(device.state == .disconnected)
      watcher.manager.connect(device)
      try await watcher.log.next("didConnect")
      watcher.manager.cancelPeripheralConnection(device)
      try await watcher.log.next("didDisconnect")
      other.manager.cancelPeripheralConnection(echo)
      other.manager.cancelPeripheralConnection(belt)
      let ended = try await watcher.log.next("connectionEvent")
      #expect(ended.connectionEvent == .peerDisconnected)
      #expect(ended.peripheral?.identifier == belt.identifier)
      for _ in 0..<2 { try await other.log.next("didDisconnect") }
      #expect(!watcher.log.pending.contains { $0.name == "connectionEvent" })

      watcher.manager.registerForConnectionEvents(options: nil)
      await watcher.barrier()
      other.manager.connect(belt)
      try await other.log.next("didConnect")
      await watcher.barrier()
      #expect(!watcher.log.pending.contains { $0.name == "connectionEvent" })
    }

    @Test("as a stream of BledClient") func stream() async throws {
      let client = try await BledClient.connect(to: daemon.socket)
      var changes = try await client.linkChanges().makeAsyncIterator()
      let belt = try await other.connected("Belt")
      let made = try await changes.next()
      #expect(made?.linked == true)
      #expect(made?.peripheral == belt.identifier.uuidString)
      #expect(made?.name == "Belt")
      other.manager.cancelPeripheralConnection(belt)
      #expect(try await changes.next()?.linked == false)
    }
  }
}
