import CoreBluetooth
import Testing

extension WithDaemon {
  /// Channels between a peripheral manager on one adapter and a central manager on another.
  @Suite struct PublishedChannelTests {
    @Test("R40: a published number is told, channels to it are opened with octets both ways, until it is unpublished")
    func published() async throws {
      let daemon = try await BledProcess(#"{ "adapter": { "mtu": 100 } }"#, adapters: 2)
      let role = PeripheralRole()
      let central = Central(adapter: BledProcess.adapter(1))
      try await role.log.next("didUpdateState") { $0.state == .poweredOn }
      role.manager.publishL2CAPChannel(withEncryption: false)
      let published = try await role.log.next("didPublish")
      #expect(published.error == nil && published.psm >= 0x80 && published.isOnQueue)
      try await role.advertise([CBAdvertisementDataLocalNameKey: "Both"])
      let device = try await central.connected("Both")
      device.openL2CAPChannel(published.psm)
      let near = try #require(try await central.log.next("didOpen").channel)
      let event = try await role.log.next("didOpen")
      let far = try #require(event.channel)
      #expect(event.isOnQueue && far.psm == published.psm && far.peer is CBCentral && near.peer === device)

      let text = Data((0..<20_000).map { UInt8(truncatingIfNeeded: $0) })
      let users = [StreamUser(near, writing: text), StreamUser(far, writing: Data(text.reversed()))]
      try await until { users.allSatisfy { $0.received.count >= text.count } }
      #expect(users[0].received == Data(text.reversed()) && users[1].received == text)

      role.manager.unpublishL2CAPChannel(published.psm)
      #expect(try await role.log.next("didUnpublish") { $0.psm == published.psm }.error == nil)
      device.openL2CAPChannel(published.psm)
      #expect((try await central.log.next("didOpen").error as? CBError)?.code == .connectionFailed)
      role.manager.unpublishL2CAPChannel(published.psm)
      #expect((try await role.log.next("didUnpublish").error as? CBError)?.code == .invalidHandle)
      // An open channel stays until one side closes it.
      #expect(!users[0].isOver && !users[1].isOver)
      near.outputStream.close()
      near.inputStream.close()
      try await until { users.allSatisfy(\.isOver) }
      withExtendedLifetime(daemon) {}
    }
  }
}
