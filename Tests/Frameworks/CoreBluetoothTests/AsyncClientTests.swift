import BledClient
import BledRPC
import Bluetooth
import CoreBluetooth
import Testing

extension WithDaemon {
  /// The async client against a real daemon. Cancelling a task also cancels its operation in the daemon, which another
  /// session observes.
  @Suite struct AsyncClientTests {
    private let daemon: BledProcess
    private let client: BledClient
    private let observer: BledClient

    init() async throws {
      daemon = try await BledProcess()
      client = try await BledClient.connect(to: daemon.socket, name: "client")
      observer = try await BledClient.connect(to: daemon.socket, name: "observer")
      let observer = observer
      try await until { try await observer.call(AdapterList.self, .init()).adapters.first?.state == "on" }
    }

    private func isScanning() async throws -> Bool {
      try await observer.call(AdapterList.self, .init()).adapters.contains { $0.scanning }
    }

    /// The daemon's state of a device: "disconnected", "connecting" or "connected".
    private func state(of identifier: String) async throws -> String? {
      try await observer.call(PeripheralList.self, .init()).peripherals.first { $0.peripheral == identifier }?
        .state.text
    }

    /// Scans until a device of this name is received.
    private func find(_ name: String) async throws -> String {
      for try await report in try await client.scan() where report.name == name { return report.peripheral }
      throw BledError.daemonUnreachable.error("the scan ended")
    }

    @Test("a scan ends with its loop") func scanning() async throws {
      let belt = try await find("Belt")
      try await until { try await !isScanning() }
      #expect(try await state(of: belt) == "disconnected")
      // With a filter nothing else is received.
      var names: Set<String?> = []
      for try await report in try await client.scan(.init(services: [0x180D], duplicates: true)) {
        names.insert(report.name)
        if try await isScanning(), names.count > 0 { break }
      }
      #expect(names == ["Belt"])
      try await until { try await !isScanning() }
    }

    @Test("a scan ends with its task") func cancelledScan() async throws {
      let client = client
      let scan = Task { for try await _ in try await client.scan(.init(duplicates: true)) {} }
      try await until { try await isScanning() }
      scan.cancel()
      _ = await scan.result
      try await until { try await !isScanning() }
      #expect(try await !isScanning())
    }

    @Test("a connect that times out throws, and the daemon stops waiting") func connectTimeout() async throws {
      let far = try await find("Far")
      let failure = await #expect(throws: BluetoothError.self) {
        try await client.connect(.identifier(far), timeout: .milliseconds(300))
      }
      #expect(failure?.domain == .gap)
      #expect(failure?.name == "timeout")
      try await until { try await state(of: far) == "disconnected" }
    }

    @Test("cancelling a connect cancels the pending connection") func cancelledConnect() async throws {
      let far = try await find("Far")
      let client = client
      let connect = Task { try await client.connect(.identifier(far)) }
      try await until { try await state(of: far) == "connecting" }
      connect.cancel()
      let failure = await #expect(throws: BluetoothError.self) { try await connect.value }
      #expect(failure?.name == "cancelled")
      try await until { try await state(of: far) == "disconnected" }
    }

    @Test("discover, read, write and subscribe") func values() async throws {
      let echo = try await client.connect(.identifier(try await find("Echo")), timeout: .seconds(300))
      let custom = try #require(BluetoothUUID(Air.custom))
      let service = try #require(try await echo.discoverServices([custom]).first)
      let found = try await echo.discoverCharacteristics(of: service)
      let text = try #require(found.first { $0.uuid == BluetoothUUID(Air.echo) }).handle
      let long = try #require(found.first { $0.uuid == BluetoothUUID(Air.long) }).handle
      #expect(try await echo.read(text) == Array("Write something.".utf8))
      #expect(try await echo.read(long).count == 512)
      #expect(try await echo.rssi() < 0)
      let notifications = try await echo.subscribe(text)
      let values = Task {
        var values: [[UInt8]] = []
        for try await value in notifications {
          values.append(value)
          if values.count == 3 { break }
        }
        return values
      }
      for number in UInt8(1)...3 { try await echo.write([number], to: text) }
      #expect(try await values.value == [[1], [2], [3]])
      let refused = await #expect(throws: BluetoothError.self) { try await echo.write([1], to: long) }
      #expect(refused?.message.isEmpty == false)
      try await echo.disconnect()
      var ends: [BluetoothError?] = []
      for await end in echo.ends { ends.append(end) }
      #expect(ends == [nil])
      let gone = await #expect(throws: BluetoothError.self) { try await echo.read(text) }
      #expect(gone?.name == "notConnected")
    }

    @Test("a cancelled read ends its wait, and the next one is answered") func cancelledRead() async throws {
      let slow = try await client.connect(.identifier(try await find("Slow")))
      let service = try #require(try await slow.discoverServices([0x181C]).first)
      let handle = try #require(try await slow.discoverCharacteristics([0x2A8A], of: service).first).handle
      let read = Task { try await slow.read(handle) }
      read.cancel()
      let failure = await #expect(throws: BluetoothError.self) { try await read.value }
      #expect(failure?.name == "cancelled")
      #expect(try await slow.read(handle) == Array("Slow".utf8))
      // If this program has no turn for long enough, the answer arrives before the timeout.
      try await until {
        let read = GATTRead.Params(peripheral: slow.identifier, handle: handle)
        do throws(BluetoothError) {
          _ = try await client.call(GATTRead.self, read, timeout: .milliseconds(50))
          return false
        } catch {
          #expect(error.name == "timeout")
          return true
        }
      }
      #expect(try await slow.read(handle) == Array("Slow".utf8))
    }

    @Test("a disconnection ends the streams with the reason") func linkEnds() async throws {
      let scale = try await client.connect(.identifier(try await find("Scale")))
      let service = try #require(try await scale.discoverServices([0x1809]).first)
      let handle = try #require(try await scale.discoverCharacteristics(of: service).first).handle
      var count = 0
      let failure = await #expect(throws: BluetoothError.self) {
        for try await _ in try await scale.subscribe(handle) {
          count += 1
          if count == 1 { try await daemon.disconnect("Scale") }
        }
      }
      #expect(failure?.domain == .hci)
      #expect(failure?.code == 0x13)
      #expect(count > 0)
    }

    @Test("a service of our own: published, read, subscribed to, and gone with the client") func peripheralRole()
      async throws
    {
      let pair = try await BledProcess("{}", adapters: 2)
      let central = try await BledClient.connect(to: pair.socket)
      do {
        let server = try await BledClient.connect(to: pair.socket)
        try await until { try await server.call(AdapterList.self, .init()).adapters.allSatisfy { $0.state == "on" } }
        let events = server.serverEvents()
        let service = try await server.publish(
          ServiceToPublish(uuid: 0x180D, characteristics: [.init(uuid: 0x2A37, properties: ["read", "notify"])]))
        let value = try #require(service.characteristics?.first?.handle)
        _ = try await server.advertise(.init(name: "Ours", services: [0x180D]))
        let serving = Task {
          for try await event in events {
            switch event {
            case .read(let request): request.respond([1, 2, 3])
            case .write(let request): request.refuse(ATTRefusal.writeNotPermitted.error("no"))
            case .subscribed:
              for number in UInt8(0)..<50 { try await server.notify(value, [number]) }
            case .unsubscribed: return
            }
          }
        }
        var device: String?
        for try await report in try await central.scan() where report.name == "Ours" {
          device = report.peripheral
          break
        }
        let peripheral = try await central.connect(.identifier(try #require(device)), timeout: .seconds(300))
        let found = try #require(try await peripheral.discoverServices([0x180D]).first)
        let handle = try #require(try await peripheral.discoverCharacteristics(of: found).first).handle
        #expect(try await peripheral.read(handle) == [1, 2, 3])
        var received: [UInt8] = []
        for try await value in try await peripheral.subscribe(handle) {
          received += value
          if received.count == 50 { break }
        }
        #expect(received == Array(0..<50))
        // The stream's end has unsubscribed.
        try await serving.value
        server.close()
      }
      try await until {
        try await central.call(AdapterList.self, .init()).adapters.allSatisfy { $0.advertising == 0 }
      }
    }

    @Test("when the daemon ends, everything ends with a reason") func daemonEnds() async throws {
      let reports = try await client.scan(.init(duplicates: true))
      await daemon.kill()
      let failure = await #expect(throws: BluetoothError.self) { for try await _ in reports {} }
      #expect(failure?.name == "daemonUnreachable")
      #expect(!client.isConnected)
      let later = await #expect(throws: BluetoothError.self) { try await client.scan() }
      #expect(later?.name == "daemonUnreachable")
    }
  }
}
