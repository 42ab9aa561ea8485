import Testing

@testable import CoreBluetooth

extension WithDaemon {
  /// Messages to programs on standard error.
  @Suite struct MisuseTests {
    /// Runs a test body in a process of its own and returns the lines of the module on standard error.
    private static func lines(_ result: ExitTest.Result?) throws -> [Substring] {
      String(decoding: try #require(result).standardErrorContent, as: UTF8.self).split(separator: "\n").filter {
        $0.hasPrefix("[CoreBluetooth]")
      }
    }

    @Test("R22: any number of writes without response for which there is no room are one line")
    func manyWrites() async throws {
      let daemon = try await BledProcess()
      let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
        let central = Central()
        let echo = try await central.connected("Echo")
        let text = try await central.characteristic(Air.echo, of: Air.custom, on: echo)
        for _ in 0..<1000 { echo.writeValue(Data([1]), for: text, type: .withoutResponse) }
        echo.readValue(for: text)
        try await central.log.next("didUpdateValueFor characteristic")
        for _ in 0..<1000 { echo.writeValue(Data([1]), for: text, type: .withoutResponse) }
        for _ in 0..<10 { echo.writeValue(Data(count: 300), for: text, type: .withoutResponse) }
      }
      let lines = try Self.lines(result)
      #expect(lines.count { $0.contains("no room") } == 1)
      #expect(lines.count { $0.contains("300 bytes") } == 1)
      #expect(lines.count == 2)
      withExtendedLifetime(daemon) {}
    }

    @Test("R21: a write without response to a characteristic without that property is a misuse, and is not sent")
    func writeWithoutTheProperty() async throws {
      let daemon = try await BledProcess()
      let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
        let central = Central()
        let belt = try await central.connected("Belt")
        let rate = try await central.characteristic("2A37", of: "180D", on: belt)
        for _ in 0..<3 { belt.writeValue(Data([1]), for: rate, type: .withoutResponse) }
        #expect(belt.canSendWriteWithoutResponse)
        await central.barrier()
      }
      let lines = try Self.lines(result)
      #expect(lines.count == 1)
      #expect(lines.first?.hasPrefix("[CoreBluetooth] API MISUSE: writeValue") == true)
      withExtendedLifetime(daemon) {}
    }

    @Test("R21: a write without response that the daemon refuses is told once")
    func refusedWrites() async throws {
      let daemon = try await BledProcess()
      let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
        let central = Central()
        let echo = try await central.connected("Echo")
        let text = try await central.characteristic(Air.echo, of: Air.custom, on: echo)
        // As if the link had had a larger MTU when the program read it.
        echo.shared[\.mtu] = 517
        for _ in 0..<3 { echo.writeValue(Data(count: 300), for: text, type: .withoutResponse) }
        echo.readRSSI()
        try await central.log.next("didReadRSSI")
      }
      let lines = try Self.lines(result)
      #expect(lines.count == 1)
      #expect(lines.first?.contains("refused") == true)
      withExtendedLifetime(daemon) {}
    }

    @Test("R5: a peripheral whose manager is gone is disconnected, and calls on it are a misuse")
    func theManagerIsGone() async throws {
      let daemon = try await BledProcess()
      let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
        let (belt, far) = try await {
          let central = Central()
          let belt = try await central.connected("Belt")
          let far = try await central.find("Far")
          central.manager.connect(far)
          return (belt, far)
        }()
        try await until { belt.state == .disconnected && far.state == .disconnected }
        #expect(!belt.canSendWriteWithoutResponse)
        belt.discoverServices(nil)
        belt.readRSSI()
      }
      let lines = try Self.lines(result)
      #expect(lines.count { $0.contains("API MISUSE: discoverServices") } == 1)
      #expect(lines.count { $0.contains("API MISUSE: readRSSI") } == 1)
      withExtendedLifetime(daemon) {}
    }

    @Test("R31: a value that a central received only the beginning of is told")
    func truncatedUpdates() async throws {
      let daemon = try await BledProcess(#"{ "adapter": { "mtu": 100 } }"#, adapters: 2)
      let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
        let central = Central(adapter: BledProcess.adapter(1))
        let role = PeripheralRole(adapter: BledProcess.adapter(0))
        try await role.log.next("didUpdateState") { $0.state == .poweredOn }
        let service = CBMutableService(type: CBUUID(string: Air.custom), primary: true)
        let text = CBMutableCharacteristic(
          type: CBUUID(string: Air.echo), properties: [.notify], value: nil, permissions: .readable)
        service.characteristics = [text]
        try await role.publish(service)
        try await role.advertise([CBAdvertisementDataLocalNameKey: "Both"])
        let device = try await central.connected("Both")
        let found = try await central.characteristic(Air.echo, of: Air.custom, on: device)
        device.setNotifyValue(true, for: found)
        try await central.log.next("didUpdateNotificationStateFor")
        try await role.log.next("didSubscribe")
        for length in [97, 98, 513] {
          role.manager.updateValue(Data(count: length), for: text, onSubscribedCentrals: nil)
        }
        for _ in 0..<3 {
          #expect(try await central.log.next("didUpdateValueFor characteristic").value?.count == 97)
        }
        try await BledProcess.untilServiceChangesAreHeard(from: device)
        // The answer to the last one precedes this.
        role.manager.remove(service)
        try await central.log.next("didModifyServices")
      }
      let lines = try Self.lines(result)
      #expect(lines.count == 1)
      #expect(lines.first?.contains("98 bytes") == true)
      withExtendedLifetime(daemon) {}
    }
  }
}
