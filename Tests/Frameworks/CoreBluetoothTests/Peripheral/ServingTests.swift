import CoreBluetooth
import Testing

extension WithDaemon {
  /// A published service, seen from a central on another adapter.
  @Suite struct ServingTests {
    private let daemon: BledProcess
    private let central: Central
    private let role: PeripheralRole
    private let service = CBMutableService(type: CBUUID(string: Air.custom), primary: true)
    private let text = CBMutableCharacteristic(
      type: CBUUID(string: Air.echo), properties: [.read, .write, .writeWithoutResponse, .notify], value: nil,
      permissions: [.readable, .writeable])
    private let indicated = CBMutableCharacteristic(
      type: CBUUID(string: Air.long), properties: .indicate, value: nil, permissions: .readable)

    init() async throws {
      daemon = try await BledProcess(#"{ "adapter": { "mtu": 100 } }"#, adapters: 2)
      central = Central(adapter: BledProcess.adapter(1))
      role = PeripheralRole()
    }

    private func connect() async throws -> CBPeripheral {
      service.characteristics = [text, indicated]
      try await role.log.next("didUpdateState") { $0.state == .poweredOn }
      try await role.publish(service)
      try await role.advertise([CBAdvertisementDataLocalNameKey: "Both"])
      return try await central.connected("Both")
    }

    @Test("R27: a published service does not change until it is removed and added again")
    func changesAfterAdd() async throws {
      let device = try await connect()
      service.characteristics = [indicated]
      text.properties = .read
      let found = try await central.characteristic(Air.echo, of: Air.custom, on: device)
      #expect(found.properties == [.read, .write, .writeWithoutResponse, .notify])
      role.manager.add(service)
      #expect((try await role.log.next("didAdd").error as? CBError)?.code == .invalidParameters)
      try await daemon.untilServiceChangesAreHeard(from: device)
      role.manager.remove(service)
      try await central.log.next("didModifyServices")
      service.characteristics = [text]
      try await role.publish(service)
      let again = try await central.characteristic(Air.echo, of: Air.custom, on: device)
      #expect(again.properties == .read)
    }

    @Test("R30: a write without response arrives as a request; answering it has no effect")
    func writeCommands() async throws {
      let device = try await connect()
      let found = try await central.characteristic(Air.echo, of: Air.custom, on: device)
      device.writeValue(Data("one".utf8), for: found, type: .withoutResponse)
      #expect(try await role.log.next("didReceiveWrite").value == Data("one".utf8))
      try await central.log.next("isReady")
      device.writeValue(Data("two".utf8), for: found, type: .withResponse)
      #expect(try await role.log.next("didReceiveWrite").value == Data("two".utf8))
      #expect(try await central.log.next("didWriteValueFor characteristic").error == nil)
      await central.barrier()
      #expect(central.log.pending.isEmpty)
    }

    @Test("R29: only the first answer counts, and an offset beyond the end is refused")
    func oneAnswer() async throws {
      let device = try await connect()
      let found = try await central.characteristic(Air.echo, of: Air.custom, on: device)
      device.readValue(for: found)
      #expect(try await central.log.next("didUpdateValueFor characteristic").value == role.value)
      let asked = try #require(try await role.log.next("didReceiveRead").requests.first)
      // A second answer has no effect.
      asked.value = Data("late".utf8)
      role.manager.respond(to: asked, withResult: .success)
      role.result = .invalidOffset
      device.readValue(for: found)
      let again = try #require(try await role.log.next("didReceiveRead").requests.first)
      #expect(again !== asked && again.central === asked.central)
      let refused = try await central.log.next("didUpdateValueFor characteristic")
      #expect((refused.error as? CBATTError)?.code == .invalidOffset)
      #expect(found.value == role.value)
    }

    @Test("R31, G16: without subscribers updateValue is true; a value longer than a notification is truncated")
    func longUpdates() async throws {
      let device = try await connect()
      #expect(role.manager.updateValue(Data([1]), for: text, onSubscribedCentrals: nil))
      let found = try await central.characteristic(Air.echo, of: Air.custom, on: device)
      device.setNotifyValue(true, for: found)
      try await central.log.next("didUpdateNotificationStateFor")
      let subscriber = try #require(try await role.log.next("didSubscribe").central)
      let long = Data((0..<200).map { UInt8($0) })
      #expect(role.manager.updateValue(long, for: text, onSubscribedCentrals: [subscriber]))
      let value = try await central.log.next("didUpdateValueFor characteristic").value
      #expect(value == long.prefix(subscriber.maximumUpdateValueLength))
      // Without a subscriber.
      #expect(role.manager.updateValue(Data([2]), for: text, onSubscribedCentrals: []))
      #expect(role.manager.updateValue(Data([3]), for: text, onSubscribedCentrals: nil))
      #expect(try await central.log.next("didUpdateValueFor characteristic").value == Data([3]))
    }

    @Test("R32: without notify values are indicated")
    func indications() async throws {
      let device = try await connect()
      let found = try await central.characteristic(Air.long, of: Air.custom, on: device)
      #expect(found.properties == .indicate)
      device.setNotifyValue(true, for: found)
      try await central.log.next("didUpdateNotificationStateFor")
      #expect(try await role.log.next("didSubscribe").characteristic === indicated)
      for number in UInt8(0)..<5 {
        #expect(role.manager.updateValue(Data([number]), for: indicated, onSubscribedCentrals: nil))
      }
      for number in UInt8(0)..<5 {
        #expect(try await central.log.next("didUpdateValueFor characteristic").value == Data([number]))
      }
    }

    @Test("R19, R26: removing a service ends subscriptions to it, then the services are invalidated")
    func lostSubscription() async throws {
      let device = try await connect()
      let found = try await central.characteristic(Air.echo, of: Air.custom, on: device)
      device.setNotifyValue(true, for: found)
      try await central.log.next("didUpdateNotificationStateFor")
      try await daemon.untilServiceChangesAreHeard(from: device)
      role.manager.remove(service)
      let lost = try await central.log.next("didUpdateNotificationStateFor")
      #expect(lost.characteristic === found)
      #expect(lost.error != nil)
      #expect(!found.isNotifying)
      let change = try await central.log.next("didModifyServices")
      #expect(change.peripheral === device)
      #expect(change.services.map(\.uuid) == [CBUUID(string: Air.custom)])
      // The device's object is the same as before.
      #expect(central.manager.retrievePeripherals(withIdentifiers: [device.identifier]).first === device)
      #expect(device.state == .connected)
    }

    @Test("R34, R36: a central that reconnects has its identifier; without a bond it subscribes again")
    func aCentralThatComesBack() async throws {
      let device = try await connect()
      let found = try await central.characteristic(Air.echo, of: Air.custom, on: device)
      device.setNotifyValue(true, for: found)
      let first = try #require(try await role.log.next("didSubscribe").central)
      device.readValue(for: found)
      #expect(try await role.log.next("didReceiveRead").central === first)
      #expect(text.subscribedCentrals == [first])
      central.manager.cancelPeripheralConnection(device)
      #expect(try await role.log.next("didUnsubscribe").central === first)
      #expect(text.subscribedCentrals == [])
      try await central.log.next("didDisconnect")
      central.manager.connect(device)
      try await central.log.next("didConnect")
      #expect(try await central.characteristic(Air.echo, of: Air.custom, on: device) === found)
      central.log.clear()
      // Without encryption its identity is not certain: nothing is kept for it.
      #expect(!found.isNotifying)
      #expect(role.manager.updateValue(Data([1]), for: text, onSubscribedCentrals: nil))
      // The daemon has the value before the subscription, which another program makes for it.
      role.manager.publishL2CAPChannel(withEncryption: false)
      #expect(try await role.log.next("didPublish").error == nil)
      device.setNotifyValue(true, for: found)
      let second = try #require(try await role.log.next("didSubscribe").central)
      #expect(second.identifier == first.identifier)
      #expect(role.manager.updateValue(Data([2]), for: text, onSubscribedCentrals: [second]))
      #expect(try await central.log.next("didUpdateValueFor characteristic").value == Data([2]))
    }

    @Test("R6: a device is reported again when what it advertises changes")
    func changedAdvertisement() async throws {
      try await role.log.next("didUpdateState") { $0.state == .poweredOn }
      try await central.log.next("didUpdateState") { $0.state == .poweredOn }
      try await role.advertise([CBAdvertisementDataLocalNameKey: "One"])
      central.manager.scanForPeripherals(withServices: nil)
      let one = try await central.log.next("didDiscover") { $0.peripheral?.name == "One" }
      one.peripheral?.delegate = central
      role.manager.stopAdvertising()
      try await role.advertise([CBAdvertisementDataLocalNameKey: "Two"])
      let two = try await central.log.next("didDiscover")
      #expect(two.data[CBAdvertisementDataLocalNameKey] as? String == "Two")
      #expect(two.peripheral === one.peripheral && two.peripheral?.name == "Two")
      #expect(central.log.pending.map(\.name) == ["didUpdateName"])
    }

    @Test("R33: keys other than name and services are ignored")
    func otherKeys() async throws {
      try await role.log.next("didUpdateState") { $0.state == .poweredOn }
      try await role.advertise([
        CBAdvertisementDataLocalNameKey: "Keys", CBAdvertisementDataManufacturerDataKey: Data([0x4C, 0, 1]),
        CBAdvertisementDataTxPowerLevelKey: 4,
      ])
      try await central.log.next("didUpdateState") { $0.state == .poweredOn }
      central.manager.scanForPeripherals(withServices: nil)
      let heard = try await central.log.next("didDiscover") {
        $0.data[CBAdvertisementDataLocalNameKey] as? String == "Keys"
      }
      #expect(heard.data[CBAdvertisementDataManufacturerDataKey] == nil)
    }

    @Test("R5: a peripheral manager may be released while a central reads, which removes its service")
    func released() async throws {
      final class Silent: NSObject, CBPeripheralManagerDelegate, @unchecked Sendable {
        let log = EventLog()
        func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) { log.add(Event(name: "state")) }
        func peripheralManager(_ peripheral: CBPeripheralManager, didAdd service: CBService, error: (any Error)?) {
          log.add(Event(name: "added", error: error))
        }
        func peripheralManagerDidStartAdvertising(_ peripheral: CBPeripheralManager, error: (any Error)?) {
          log.add(Event(name: "advertising", error: error))
        }
        func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveRead request: CBATTRequest) {
          log.add(Event(name: "read", requests: [request]))
        }
      }
      let silent = Silent()
      weak var gone: CBPeripheralManager?
      let device: CBPeripheral
      do {
        let manager = CBPeripheralManager(delegate: silent, queue: silent.log.queue)
        gone = manager
        try await silent.log.next("state")
        service.characteristics = [text]
        manager.add(service)
        #expect(try await silent.log.next("added").error == nil)
        manager.startAdvertising([CBAdvertisementDataLocalNameKey: "Silent"])
        #expect(try await silent.log.next("advertising").error == nil)
        device = try await central.connected("Silent")
        let found = try await central.characteristic(Air.echo, of: Air.custom, on: device)
        device.readValue(for: found)
        try await silent.log.next("read")
        withExtendedLifetime(manager) {}
      }
      try await until { gone == nil }
      #expect(try await central.log.next("didUpdateValueFor characteristic").error != nil)
    }
  }
}
