import CoreBluetooth
import Testing

extension WithDaemon {
  /// A peripheral manager on one adapter and a central manager on another, on one air.
  @Suite struct BothRolesTests {
    /// The service published here.
    private struct Local {
      let service = CBMutableService(type: CBUUID(string: Air.custom), primary: true)
      let text = CBMutableCharacteristic(
        type: CBUUID(string: Air.echo), properties: [.read, .write, .notify], value: nil,
        permissions: [.readable, .writeable])
      let fixed = CBMutableCharacteristic(
        type: CBUUID(string: Air.long), properties: .read, value: Data("Fixed".utf8), permissions: .readable)

      init() {
        text.descriptors = [CBMutableDescriptor(type: CBUUID(string: "2901"), value: "Text")]
        service.characteristics = [text, fixed]
      }
    }

    private let daemon: BledProcess
    private let central: Central
    private let local = Local()

    init() async throws {
      daemon = try await BledProcess(#"{ "adapter": { "mtu": 100 } }"#, adapters: 2)
      central = Central(adapter: BledProcess.adapter(1))
    }

    /// Publishes, advertises, finds and connects.
    private func connect(_ role: PeripheralRole) async throws -> CBPeripheral {
      try await role.log.next("didUpdateState") { $0.state == .poweredOn }
      try await role.publish(local.service)
      try await role.advertise([
        CBAdvertisementDataLocalNameKey: "Both", CBAdvertisementDataServiceUUIDsKey: [CBUUID(string: Air.custom)],
      ])
      return try await central.connected("Both")
    }

    @Test("R20, R21, R28, R29: reads and writes of any length, and errors")
    func readsWritesAndUpdates() async throws {
      let role = PeripheralRole()
      let device = try await connect(role)
      let text = try await central.characteristic(Air.echo, of: Air.custom, on: device)
      #expect(text.properties == [.read, .write, .notify])
      device.discoverDescriptors(for: text)
      try await central.log.next("didDiscoverDescriptorsFor")
      #expect(text.descriptors?.map(\.uuid.uuidString).sorted() == ["2901", "2902"])

      // A long value is read in parts.
      role.value = Data((0..<512).map { UInt8(truncatingIfNeeded: $0) })
      device.readValue(for: text)
      #expect(try await central.log.next("didUpdateValueFor characteristic").value == role.value)
      #expect(try await role.log.next("didReceiveRead") { $0.requests[0].offset > 0 }.characteristic === local.text)
      role.log.clear()

      // A short write is one request, a long one arrives in parts and is answered once.
      device.writeValue(Data("Hello".utf8), for: text, type: .withResponse)
      #expect(try await central.log.next("didWriteValueFor characteristic").error == nil)
      let short = try await role.log.next("didReceiveWrite")
      #expect(short.requests.count == 1)
      #expect(short.value == Data("Hello".utf8))
      let long = Data(repeating: 5, count: 512)
      device.writeValue(long, for: text, type: .withResponse)
      #expect(try await central.log.next("didWriteValueFor characteristic").error == nil)
      let parts = try await role.log.next("didReceiveWrite").requests
      #expect(parts.reduce(into: Data()) { $0 += $1.value ?? Data() } == long)

      // The central receives the error that the program gave, application errors included.
      for code in [CBATTError.Code.insufficientResources, try #require(CBATTError.Code(rawValue: 0x80))] {
        role.result = code
        device.writeValue(Data([1]), for: text, type: .withResponse)
        let error = try await central.log.next("didWriteValueFor characteristic").error
        #expect((error as? CBATTError)?.code == code)
        #expect((error as NSError?)?.domain == CBATTErrorDomain)
      }
      // The delegate gets no request for the fixed value.
      role.log.clear()
      let fixed = try await central.characteristic(Air.long, of: Air.custom, on: device)
      device.readValue(for: fixed)
      #expect(try await central.log.next("didUpdateValueFor characteristic").value == Data("Fixed".utf8))
      #expect(role.log.pending.isEmpty)
    }

    @Test("R31: any number of updates arrives in order")
    func updatesArriveInOrder() async throws {
      let role = PeripheralRole()
      let device = try await connect(role)
      let text = try await central.characteristic(Air.echo, of: Air.custom, on: device)
      device.setNotifyValue(true, for: text)
      try await central.log.next("didUpdateNotificationStateFor")
      let subscriber = try #require(try await role.log.next("didSubscribe").central)
      #expect(subscriber.maximumUpdateValueLength == device.maximumWriteValueLength(for: .withoutResponse))
      var number = 0
      while number < 100 {
        while number < 100, role.manager.updateValue(Data("\(number)".utf8), for: local.text, onSubscribedCentrals: nil)
        {
          number += 1
        }
        if number < 100 { try await role.log.next("isReady") }
      }
      for expected in 0..<100 {
        let value = try await central.log.next("didUpdateValueFor characteristic").value
        #expect(value == Data("\(expected)".utf8))
      }
      central.manager.cancelPeripheralConnection(device)
      #expect(try await role.log.next("didUnsubscribe").central === subscriber)
    }

    @Test("R19, R26: services that change")
    func servicesThatChange() async throws {
      let role = PeripheralRole()
      let device = try await connect(role)
      let text = try await central.characteristic(Air.echo, of: Air.custom, on: device)
      let service = try #require(text.service)
      try await daemon.untilServiceChangesAreHeard(from: device)
      role.manager.remove(local.service)
      let change = try await central.log.next("didModifyServices")
      #expect(change.services == [service])
      #expect(device.services?.isEmpty == true)
      try await role.publish(local.service)
      let again = try await central.characteristic(Air.echo, of: Air.custom, on: device)
      #expect(again !== text)
      device.readValue(for: again)
      #expect(try await central.log.next("didUpdateValueFor characteristic").error == nil)
    }

    @Test("R29: an unanswered read fails when the request is released")
    func anUnansweredReadEndsWithTheRequest() async throws {
      let role = PeripheralRole()
      let device = try await connect(role)
      let text = try await central.characteristic(Air.echo, of: Air.custom, on: device)
      role.result = nil
      device.readValue(for: text)
      try await role.log.next("didReceiveRead")
      #expect(try await central.log.next("didUpdateValueFor characteristic").error is CBATTError)
    }

    @Test("R24: a protected value is refused without encryption")
    func aProtectedValueIsRefusedWithoutEncryption() async throws {
      let role = PeripheralRole()
      local.text.permissions = .readEncryptionRequired
      local.text.properties = [.read, .notifyEncryptionRequired]
      let device = try await connect(role)
      let text = try await central.characteristic(Air.echo, of: Air.custom, on: device)
      device.readValue(for: text)
      let error = try await central.log.next("didUpdateValueFor characteristic").error as? CBATTError
      #expect([.insufficientEncryption, .insufficientAuthentication].contains(error?.code))
      #expect(!role.log.pending.contains { $0.name == "didReceiveRead" })
      #expect(text.properties == [.read, .notify])
      device.setNotifyValue(true, for: text)
      #expect(try await central.log.next("didUpdateNotificationStateFor").error is CBATTError)
      #expect(!text.isNotifying)
      #expect(!role.log.pending.contains { $0.name == "didSubscribe" })
    }
  }
}
