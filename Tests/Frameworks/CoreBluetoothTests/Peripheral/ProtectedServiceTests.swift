import CoreBluetooth
import Testing

extension WithDaemon {
  /// Protection by the four EncryptionRequired permissions and properties, seen from a central on another adapter.
  @Suite struct ProtectedServiceTests {
    private let local = LocalBelt()

    /// - Parameter pairing: the word of the configuration that says which devices may pair.
    private func connect(
      _ pairing: String
    ) async throws -> (daemon: BledProcess, role: PeripheralRole, central: Central, device: CBPeripheral) {
      let daemon = try await BledProcess("{}", adapters: 2, configuration: "{ \"pairing\": \"\(pairing)\" }")
      let role = PeripheralRole()
      let central = Central(adapter: BledProcess.adapter(1))
      local.text.permissions = [.readEncryptionRequired, .writeEncryptionRequired]
      local.rate.properties = [.notify, .notifyEncryptionRequired]
      try await role.log.next("didUpdateState") { $0.state == .poweredOn }
      try await role.publish(local.service)
      try await role.advertise(LocalBelt.advertisement)
      return (daemon, role, central, try await central.connected("Tests"))
    }

    private func read(_ characteristic: CBCharacteristic, _ central: Central) async throws -> Event {
      characteristic.service?.peripheral?.readValue(for: characteristic)
      return try await central.log.next("didUpdateValueFor characteristic")
    }

    @Test("R24: a central that may pair does, then reads, writes and subscribes")
    func paired() async throws {
      let (daemon, role, central, device) = try await connect("just-works")
      let text = try await central.characteristic(Air.echo, of: "180D", on: device)
      #expect(try await read(text, central).value == role.value)
      try await role.log.next("didReceiveRead")
      device.writeValue(Data("new".utf8), for: text, type: .withResponse)
      #expect(try await central.log.next("didWriteValueFor characteristic").error == nil)
      #expect(try await role.log.next("didReceiveWrite").value == Data("new".utf8))
      let rate = try await central.characteristic("2A37", of: "180D", on: device)
      #expect(rate.properties == .notify)
      device.setNotifyValue(true, for: rate)
      #expect(try await central.log.next("didUpdateNotificationStateFor").error == nil)
      let subscriber = try #require(try await role.log.next("didSubscribe").central)
      #expect(role.manager.updateValue(Data([0, 60]), for: local.rate, onSubscribedCentrals: [subscriber]))
      #expect(try await central.log.next("didUpdateValueFor characteristic").value == Data([0, 60]))
      withExtendedLifetime(daemon) {}
    }

    @Test("R24: a central that may not pair reads, writes and subscribes to nothing that is protected")
    func refused() async throws {
      let (daemon, role, central, device) = try await connect("refuse")
      let text = try await central.characteristic(Air.echo, of: "180D", on: device)
      #expect((try await read(text, central).error as? CBATTError)?.code == .insufficientAuthentication)
      device.writeValue(Data("new".utf8), for: text, type: .withResponse)
      let written = try await central.log.next("didWriteValueFor characteristic")
      #expect((written.error as? CBATTError)?.code == .insufficientAuthentication)
      let rate = try await central.characteristic("2A37", of: "180D", on: device)
      device.setNotifyValue(true, for: rate)
      let subscribed = try await central.log.next("didUpdateNotificationStateFor")
      #expect((subscribed.error as? CBATTError)?.code == .insufficientAuthentication)
      // Attributes without protection are open.
      let fixed = try await central.characteristic("2A38", of: "180D", on: device)
      #expect(try await read(fixed, central).value == Data([1]))
      #expect(!role.log.pending.contains { ["didReceiveRead", "didReceiveWrite", "didSubscribe"].contains($0.name) })
      withExtendedLifetime(daemon) {}
    }
  }
}
