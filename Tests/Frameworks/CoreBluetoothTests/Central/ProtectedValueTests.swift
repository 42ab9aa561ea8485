import CoreBluetooth
import Testing

extension WithDaemon {
  /// Devices that want the connection encrypted: the system pairs, the program sees only the result.
  @Suite struct ProtectedValueTests {
    private static let secret = "B1ED0011-5EED-4B1E-8D00-000000000000"
    private static let checked = "B1ED0012-5EED-4B1E-8D00-000000000000"
    private static let strong = "B1ED0013-5EED-4B1E-8D00-000000000000"

    /// A lock with a value that needs encryption, one that needs authentication, and one that needs a long key.
    private static func lock(_ pairing: String, more: String = "") -> String {
      """
      { "devices": [{
        "name": "Lock", "address": "C0:DE:00:00:00:21", "addressType": "random", "interval": 0.05,
        "advertising": { "name": "Lock", "services": ["\(Air.custom)"] },
        "pairing": \(pairing), \(more)
        "services": [{ "uuid": "\(Air.custom)", "characteristics": [
          { "uuid": "\(secret)", "properties": ["read", "write", "notify"], "notifyEvery": 0.1, "text": "secret",
            "security": "encrypted" },
          { "uuid": "\(checked)", "properties": ["read"], "text": "checked", "security": "authenticated" },
          { "uuid": "\(strong)", "properties": ["read"], "text": "strong",
            "security": { "read": "encrypted", "keySize": 16 } } ] }]
      }] }
      """
    }

    private func read(_ characteristic: CBCharacteristic, _ central: Central) async throws -> Event {
      characteristic.service?.peripheral?.readValue(for: characteristic)
      return try await central.log.next("didUpdateValueFor characteristic") { $0.characteristic === characteristic }
    }

    @Test("R24: a protected value is read, written and subscribed to; the next connection needs no pairing")
    func pairs() async throws {
      let daemon = try await BledProcess(Self.lock("{}"))
      let central = Central()
      let lock = try await central.connected("Lock")
      let secret = try await central.characteristic(Self.secret, of: Air.custom, on: lock)
      let first = try await read(secret, central)
      #expect(first.error == nil && first.value == Data("secret".utf8))
      lock.writeValue(Data("other".utf8), for: secret, type: .withResponse)
      #expect(try await central.log.next("didWriteValueFor characteristic").error == nil)
      lock.setNotifyValue(true, for: secret)
      #expect(try await central.log.next("didUpdateNotificationStateFor").error == nil)
      #expect(secret.isNotifying)
      #expect(try await central.log.next("didUpdateValueFor characteristic").value == Data("other".utf8))
      central.manager.cancelPeripheralConnection(lock)
      try await central.log.next("didDisconnect")
      // The keys outlast the daemon, and the device knows them.
      await daemon.terminate()
      try await daemon.start()
      try await central.log.next("didUpdateState") { $0.state == .poweredOn }
      central.log.clear()
      central.manager.connect(
        try #require(central.manager.retrievePeripherals(withIdentifiers: [lock.identifier]).first))
      try await central.log.next("didConnect")
      let again = try await central.characteristic(Self.secret, of: Air.custom, on: lock)
      #expect(try await read(again, central).error == nil)
    }

    @Test("P23: a paired device is one peripheral under all its private addresses, also to other programs")
    func privateAddresses() async throws {
      // bled changes to an address when the last one was not received for two seconds: not at the end of the new one.
      let daemon = try await BledProcess(Self.lock("{}", more: "\"privateAddress\": 3,"))
      let central = Central()
      let lock = try await central.connected("Lock")
      let secret = try await central.characteristic(Self.secret, of: Air.custom, on: lock)
      #expect(try await read(secret, central).error == nil)
      central.manager.cancelPeripheralConnection(lock)
      try await central.log.next("didDisconnect")
      // Four seconds, in which it changes its address.
      try await Central.hear(80, of: "Lock")
      #expect(try await central.find("Lock") === lock)
      let known = central.manager.retrievePeripherals(withIdentifiers: [lock.identifier])
      #expect(known.count == 1 && known.first === lock)
      central.manager.connect(lock)
      try await central.log.next("didConnect")
      let again = try await central.characteristic(Self.secret, of: Air.custom, on: lock)
      #expect(try await read(again, central).error == nil)
      let second = Central()
      try await second.log.next("didUpdateState") { $0.state == .poweredOn }
      let connected = second.manager.retrieveConnectedPeripherals(withServices: [CBUUID(string: Air.custom)])
      #expect(connected.map(\.identifier) == [lock.identifier])
      withExtendedLifetime(daemon) {}
    }

    @Test("R24: where pairing fails the program gets the device's refusal", arguments: ["refuse", "none"])
    func refused(answer: String) async throws {
      let daemon = try await BledProcess(
        answer == "none"
          ? Self.lock("{}").replacingOccurrences(of: "\"pairing\": {},", with: "")
          : Self.lock("{ \"answer\": \"\(answer)\" }"))
      let central = Central()
      let lock = try await central.connected("Lock")
      let secret = try await central.characteristic(Self.secret, of: Air.custom, on: lock)
      #expect((try await read(secret, central).error as? CBATTError)?.code == .insufficientAuthentication)
      #expect(lock.state == .connected)
      withExtendedLifetime(daemon) {}
    }

    @Test("R24: encryption without a check is not enough for a value that needs authentication")
    func authenticated() async throws {
      let daemon = try await BledProcess(Self.lock("{}"))
      let central = Central()
      let lock = try await central.connected("Lock")
      let checked = try await central.characteristic(Self.checked, of: Air.custom, on: lock)
      #expect((try await read(checked, central).error as? CBATTError)?.code == .insufficientAuthentication)
      withExtendedLifetime(daemon) {}
    }

    @Test("R24: a key that is too short for a value is an error of its own", arguments: [7, 16])
    func keySize(size: Int) async throws {
      let daemon = try await BledProcess(Self.lock("{ \"keySize\": \(size) }"))
      let central = Central()
      let lock = try await central.connected("Lock")
      let strong = try await central.characteristic(Self.strong, of: Air.custom, on: lock)
      let code = (try await read(strong, central).error as? CBATTError)?.code
      #expect(code == (size == 16 ? nil : .insufficientEncryptionKeySize))
      withExtendedLifetime(daemon) {}
    }

    @Test("R13: a device that has forgotten the pairing is not connected, for peerRemovedPairingInformation")
    func lostKeys() async throws {
      let daemon = try await BledProcess(Self.lock("{ \"losesKeys\": true }"))
      let central = Central()
      let lock = try await central.connected("Lock")
      let secret = try await central.characteristic(Self.secret, of: Air.custom, on: lock)
      #expect(try await read(secret, central).error == nil)
      central.manager.cancelPeripheralConnection(lock)
      try await central.log.next("didDisconnect")
      central.manager.connect(lock)
      let failure = try await central.log.next("didFailToConnect")
      #expect((failure.error as? CBError)?.code == .peerRemovedPairingInformation)
      withExtendedLifetime(daemon) {}
    }

    @Test("R13: a connection on which pairing takes too long ends with encryptionTimedOut")
    func timeout() async throws {
      let daemon = try await BledProcess(Self.lock("{ \"answer\": \"never\" }"))
      let central = Central()
      let lock = try await central.connected("Lock")
      let secret = try await central.characteristic(Self.secret, of: Air.custom, on: lock)
      lock.readValue(for: secret)
      let end = try await central.log.next("didDisconnect")
      #expect((end.error as? CBError)?.code == .encryptionTimedOut)
      withExtendedLifetime(daemon) {}
    }
  }
}
