import BledClient
import BledRPC
import CoreBluetooth
import Testing

extension WithDaemon {
  @Suite struct PublishingTests {
    @Test("R28, R29, R36: a visit")
    func aVisit() async throws {
      let daemon = try await BledProcess()
      let role = PeripheralRole()
      #expect(try await role.log.next("didUpdateState").state == .poweredOn)
      let belt = LocalBelt()
      try await role.publish(belt.service)
      #expect(!role.manager.isAdvertising)
      try await role.advertise(LocalBelt.advertisement)
      #expect(role.manager.isAdvertising)

      let read = try await role.log.next("didReceiveRead")
      #expect(read.isOnQueue)
      #expect(read.characteristic === belt.text)
      #expect(read.requests[0].offset == 0)
      let written = try await role.log.next("didReceiveWrite")
      #expect(written.characteristic === belt.text)
      #expect(written.value == Data("Hello".utf8))
      #expect(written.central === read.central)
      let subscribed = try await role.log.next("didSubscribe")
      #expect(subscribed.characteristic === belt.rate)
      let central = try #require(subscribed.central)
      #expect(central === read.central)
      #expect(central.maximumUpdateValueLength > 20)
      #expect(belt.rate.subscribedCentrals?.first === central)
      #expect(role.manager.updateValue(Data([0, 60]), for: belt.rate, onSubscribedCentrals: nil))
      #expect(role.manager.updateValue(Data([0, 61]), for: belt.rate, onSubscribedCentrals: [central]))
      let unsubscribed = try await role.log.next("didUnsubscribe")
      #expect(unsubscribed.central === central)
      #expect(belt.rate.subscribedCentrals?.isEmpty == true)
      // The delegate got no request for the fixed value.
      #expect(!role.log.pending.contains { $0.characteristic?.uuid == CBUUID(string: "2A38") })
      #expect(!role.log.wasReentered)
      // The phone visits again.
      try await role.log.next("didSubscribe")
      withExtendedLifetime(daemon) {}
    }

    @Test("R33: advertising twice")
    func advertisingTwice() async throws {
      let daemon = try await BledProcess()
      let role = PeripheralRole()
      try await role.log.next("didUpdateState")
      try await role.advertise(LocalBelt.advertisement)
      role.manager.startAdvertising(LocalBelt.advertisement)
      let error = try await role.log.next("didStartAdvertising").error
      #expect((error as? CBError)?.code == .alreadyAdvertising)
      #expect(role.manager.isAdvertising)
      role.manager.stopAdvertising()
      #expect(!role.manager.isAdvertising)
      let observer = try await BledClient.connect(to: daemon.socket)
      try await until { try await observer.call(AdapterList.self, .init()).adapters.first?.advertising == 0 }
      try await role.advertise(LocalBelt.advertisement)
      #expect(role.manager.isAdvertising)
    }

    @Test("R33: advertising twice without waiting is answered in order")
    func advertisingTwiceAtOnce() async throws {
      let daemon = try await BledProcess()
      let role = PeripheralRole()
      try await role.log.next("didUpdateState")
      for _ in 0..<3 { role.manager.startAdvertising(LocalBelt.advertisement) }
      #expect(try await role.log.next("didStartAdvertising").error == nil)
      for _ in 0..<2 {
        let error = try #require(try await role.log.next("didStartAdvertising").error)
        #expect((error as? CBError)?.code == .alreadyAdvertising)
        #expect(error.localizedDescription == "Advertising has already started.")
      }
      // If the first fails, the second is tried; a pending one is answered when it is stopped.
      role.manager.stopAdvertising()
      let many = (0..<8).map { _ in CBUUID(nsuuid: UUID()) }
      role.manager.startAdvertising([CBAdvertisementDataServiceUUIDsKey: many])
      role.manager.startAdvertising(LocalBelt.advertisement)
      role.manager.startAdvertising(LocalBelt.advertisement)
      #expect((try await role.log.next("didStartAdvertising").error as? CBError)?.code == .outOfSpace)
      #expect(try await role.log.next("didStartAdvertising").error == nil)
      #expect((try await role.log.next("didStartAdvertising").error as? CBError)?.code == .alreadyAdvertising)
      #expect(role.manager.isAdvertising)
      withExtendedLifetime(daemon) {}
    }

    @Test("R33: data that does not fit is an error")
    func moreThanFitsIsRefused() async throws {
      let daemon = try await BledProcess()
      let role = PeripheralRole()
      try await role.log.next("didUpdateState")
      let many = (0..<8).map { _ in CBUUID(nsuuid: UUID()) }
      role.manager.startAdvertising([CBAdvertisementDataServiceUUIDsKey: many])
      let error = try await role.log.next("didStartAdvertising").error
      #expect((error as? CBError)?.code == .outOfSpace)
      #expect(!role.manager.isAdvertising)
      withExtendedLifetime(daemon) {}
    }

    @Test("R35: services that cannot be published")
    func whatCannotBePublished() async throws {
      let daemon = try await BledProcess()
      let role = PeripheralRole()
      try await role.log.next("didUpdateState")
      for uuid in ["1800", "1801"] {
        role.manager.add(CBMutableService(type: CBUUID(string: uuid), primary: true))
        #expect((try await role.log.next("didAdd").error as? CBError)?.code == .uuidNotAllowed)
      }
      let extended = CBMutableService(type: CBUUID(string: "180F"), primary: true)
      extended.characteristics = [
        CBMutableCharacteristic(
          type: CBUUID(string: "2A19"), properties: [.write, .extendedProperties], value: nil, permissions: .writeable)
      ]
      role.manager.add(extended)
      #expect((try await role.log.next("didAdd").error as? CBError)?.code == .invalidParameters)
      let outer = CBMutableService(type: CBUUID(string: "180D"), primary: true)
      let inner = CBMutableService(type: CBUUID(string: "180F"), primary: false)
      outer.includedServices = [inner]
      role.manager.add(outer)
      #expect((try await role.log.next("didAdd").error as? CBError)?.code == .invalidParameters)
      // The one first, then the other.
      role.manager.add(inner)
      role.manager.add(outer)
      #expect(try await role.log.next("didAdd") { $0.service === inner }.error == nil)
      #expect(try await role.log.next("didAdd") { $0.service === outer }.error == nil)
      role.manager.add(outer)
      #expect((try await role.log.next("didAdd").error as? CBError)?.code == .invalidParameters)
      role.manager.remove(outer)
      role.manager.add(outer)
      #expect(try await role.log.next("didAdd").error == nil)
      role.manager.removeAllServices()
      role.manager.add(inner)
      #expect(try await role.log.next("didAdd").error == nil)
      withExtendedLifetime(daemon) {}
    }

    @Test("R28: a fixed value must be read-only") func aFixedValueMustBeReadOnly() async throws {
      // Started here and not in the process that ends, which would leave it behind. The environment names its socket.
      let daemon = try await BledProcess()
      let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        let service = CBMutableService(type: CBUUID(string: "180D"), primary: true)
        service.characteristics = [
          CBMutableCharacteristic(
            type: CBUUID(string: "2A38"), properties: [.read, .write], value: Data([1]), permissions: .readable)
        ]
        let role = PeripheralRole()
        try await role.log.next("didUpdateState") { $0.state == .poweredOn }
        role.manager.add(service)
      }
      let said = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
      #expect(said.contains("Characteristics with cached values must be read-only"))
      withExtendedLifetime(daemon) {}
    }

    @Test("R3: published services outlast the power-off of the adapter; the advertisement does not")
    func adapterThatIsSwitchedOff() async throws {
      let daemon = try await BledProcess()
      let role = PeripheralRole()
      try await role.log.next("didUpdateState") { $0.state == .poweredOn }
      let belt = LocalBelt()
      try await role.publish(belt.service)
      try await role.advertise(LocalBelt.advertisement)
      try await daemon.power(false)
      try await role.log.next("didUpdateState") { $0.state == .poweredOff }
      #expect(!role.manager.isAdvertising)
      try await daemon.power(true)
      try await role.log.next("didUpdateState") { $0.state == .poweredOn }
      #expect(!role.manager.isAdvertising)
      role.log.clear()
      try await role.advertise(LocalBelt.advertisement)
      #expect(try await role.log.next("didReceiveRead").characteristic === belt.text)
      withExtendedLifetime(daemon) {}
    }

    @Test("R3, R27: without a daemon calls are ignored; with it everything can be published again")
    func callsWithoutADaemonAreIgnored() async throws {
      let daemon = try await BledProcess()
      await daemon.kill()
      let role = PeripheralRole()
      #expect(try await role.log.next("didUpdateState").state == .unsupported)
      let belt = LocalBelt()
      role.manager.add(belt.service)
      role.manager.startAdvertising(nil)
      #expect(!role.manager.updateValue(Data([1]), for: belt.rate, onSubscribedCentrals: nil))
      await role.log.settle()
      #expect(role.log.pending.isEmpty)
      try await daemon.start()
      #expect(try await role.log.next("didUpdateState").state == .poweredOn)
      try await role.publish(belt.service)
      try await role.advertise(LocalBelt.advertisement)
      // Nothing is published after the restart, and everything can be published again.
      await daemon.kill()
      #expect(try await role.log.next("didUpdateState").state == .resetting)
      #expect(!role.manager.isAdvertising)
      try await daemon.start()
      #expect(try await role.log.next("didUpdateState").state == .poweredOn)
      try await role.publish(belt.service)
    }

    @Test("R31: there is room for updates again")
    func updatesHaveRoomOnceMore() async throws {
      let daemon = try await BledProcess()
      let role = PeripheralRole()
      try await role.log.next("didUpdateState")
      let belt = LocalBelt()
      try await role.publish(belt.service)
      try await role.advertise(LocalBelt.advertisement)
      try await role.log.next("didSubscribe")
      let sent = role.log.queue.sync {
        var sent = 0
        while sent < 1000, role.manager.updateValue(Data([0, 60]), for: belt.rate, onSubscribedCentrals: nil) {
          sent += 1
        }
        return sent
      }
      #expect(sent < 1000)
      try await role.log.next("isReady")
      #expect(role.manager.updateValue(Data([0, 60]), for: belt.rate, onSubscribedCentrals: nil))
      withExtendedLifetime(daemon) {}
    }
  }
}
