import CoreBluetooth
import Testing

extension WithDaemon {
  /// Writes without response right before the program gives the connection up.
  @Suite struct LastWriteTests {
    private let daemon: BledProcess
    private let role: PeripheralRole
    private let central: Central

    init() async throws {
      daemon = try await BledProcess("{}", adapters: 2)
      role = PeripheralRole(adapter: BledProcess.adapter(0))
      central = Central(adapter: BledProcess.adapter(1))
      try await role.log.next("didUpdateState") { $0.state == .poweredOn }
      let service = CBMutableService(type: CBUUID(string: Air.custom), primary: true)
      service.characteristics = [
        CBMutableCharacteristic(
          type: CBUUID(string: Air.echo), properties: [.writeWithoutResponse, .read], value: nil,
          permissions: [.writeable, .readable])
      ]
      try await role.publish(service)
      try await role.advertise([CBAdvertisementDataLocalNameKey: "Theirs"])
    }

    /// The values that have arrived, in order, once there are this many.
    private func arrived(_ count: Int) async throws -> [Data] {
      var values: [Data] = []
      while values.count < count {
        let event = try await role.log.next("didReceiveWrite")
        values += event.requests.compactMap(\.value)
      }
      return values
    }

    private func values(_ count: Int) -> [Data] { (0..<count).map { Data("\($0)".utf8) } }

    @Test(
      "R22: writes without response arrive although the connection is cancelled behind them", arguments: [3, 32, 256])
    func cancelled(count: Int) async throws {
      let device = try await central.connected("Theirs")
      let text = try await central.characteristic(Air.echo, of: Air.custom, on: device)
      for value in values(count) { device.writeValue(value, for: text, type: .withoutResponse) }
      central.manager.cancelPeripheralConnection(device)
      #expect(try await central.log.next("didDisconnect").error == nil)
      #expect(try await arrived(count) == values(count))
    }

    @Test("R22: they arrive although the manager is released")
    func released() async throws {
      var user: Central? = Central(adapter: BledProcess.adapter(1))
      var device: CBPeripheral? = try await user?.connected("Theirs")
      let text = try await user?.characteristic(Air.echo, of: Air.custom, on: try #require(device))
      for value in values(3) { device?.writeValue(value, for: try #require(text), type: .withoutResponse) }
      (device, user) = (nil, nil)
      #expect(try await arrived(3) == values(3))
    }
  }
}
