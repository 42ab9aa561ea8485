import BledRPC
import Bluetooth
import CoreBluetooth
import Testing

extension WithDaemon {
  /// The link of a device has several users within one manager: its last one gives it back.
  @Suite struct SharedLinkTests {
    private let daemon: PlayedDaemon
    private let central: Central
    private let device: CBPeripheral

    init() async throws {
      daemon = try PlayedDaemon()
      let central = Central()
      self.central = central
      try await central.log.next("didUpdateState") { $0.state == .poweredOn }
      device = try #require(central.manager.retrievePeripherals(withIdentifiers: [PlayedDaemon.device]).first)
    }

    private func connect() async throws {
      central.manager.connect(device, options: [CBConnectPeripheralOptionEnableAutoReconnect: true])
      try await central.log.next("didConnect")
    }

    private func count(_ name: String) -> Int { daemon.calls.count { $0 == name } }

    @Test("R22: a link that is lost while the last writes leave does not come back to a program that gave it up")
    func lostWhileEnding() async throws {
      try await connect()
      daemon.hold(GATTWrite.name)
      let text = CBMutableCharacteristic(
        type: CBUUID(string: "FFE1"), properties: [.writeWithoutResponse], value: nil, permissions: [.writeable])
      device.writeValue(Data([1]), for: text, type: .withoutResponse)
      try await until { count(GATTWrite.name) == 1 }
      central.manager.cancelPeripheralConnection(device)
      await central.barrier()
      #expect(count(PeripheralDisconnect.name) == 0)
      try daemon.notify(
        PeripheralDisconnected.self,
        .init(peripheral: PlayedDaemon.device.uuidString, reason: nil, reconnecting: true))
      #expect(try await central.log.next("didDisconnect").isReconnecting == false)
      try await until { count(PeripheralDisconnect.name) == 1 }
    }

    @Test("R12, R15: a question for connected devices keeps its link, which the program used meanwhile and gave up")
    func askedWhileEnding() async throws {
      daemon.link()
      daemon.hold(GATTDiscoverServices.name)
      let manager = central.manager
      let found = Self.connected(to: manager)
      try await until { count(GATTDiscoverServices.name) == 1 }
      try await connect()
      manager.cancelPeripheralConnection(device)
      // The link of the question stays: its end is not waited for.
      try await central.log.next("didDisconnect")
      #expect(count(PeripheralDisconnect.name) == 0)
      try daemon.release()
      #expect(await found.value == [PlayedDaemon.device])
      try await until { count(PeripheralDisconnect.name) == 1 }
    }

    /// Requests the devices with a service, on a thread that may wait.
    private static func connected(to manager: CBCentralManager) -> Task<[UUID], Never> {
      let carried = Carried(value: manager)
      return Task {
        await withCheckedContinuation { continuation in
          Thread.detachNewThread {
            let found = carried.value.retrieveConnectedPeripherals(withServices: [CBUUID(string: "180D")])
            continuation.resume(returning: found.map(\.identifier))
          }
        }
      }
    }

    /// Carries an object to another thread.
    private struct Carried<Value>: @unchecked Sendable {
      let value: Value
    }
  }
}
