import CoreBluetooth
import Testing

extension WithDaemon {
  @Suite struct AttributeTests {
    @Test("R18, R19: discovery step by step")
    func discoveryStepByStep() async throws {
      let daemon = try await BledProcess()
      let central = Central()
      let belt = try await central.connected("Belt")
      #expect(belt.services == nil)
      belt.discoverServices([CBUUID(string: "180A")])
      try await central.log.next("didDiscoverServices")
      #expect(belt.services?.map(\.uuid) == [CBUUID(string: "180A")])
      let information = try #require(belt.services?.first)
      // More is added in order of the handles, and known attributes keep their objects.
      belt.discoverServices([CBUUID(string: "180D")])
      try await central.log.next("didDiscoverServices")
      #expect(belt.services?.map(\.uuid) == [CBUUID(string: "180D"), CBUUID(string: "180A")])
      #expect(belt.services?.last === information)
      belt.discoverServices(nil)
      try await central.log.next("didDiscoverServices")
      let service = try #require(belt.services?.first { $0.uuid == CBUUID(string: "180D") })
      #expect(belt.services?.contains { $0 === information } == true)
      #expect(service.peripheral === belt)
      #expect(service.isPrimary)
      #expect(service.characteristics == nil)
      #expect(service.includedServices == nil)

      belt.discoverIncludedServices(nil, for: service)
      #expect(try await central.log.next("didDiscoverIncludedServicesFor").service === service)
      let included = try #require(service.includedServices?.first)
      #expect(included.uuid == CBUUID(string: "180F"))
      #expect(!included.isPrimary)
      belt.discoverCharacteristics(nil, for: included)
      try await central.log.next("didDiscoverCharacteristicsFor")
      #expect(included.characteristics?.map(\.uuid) == [CBUUID(string: "2A19")])

      belt.discoverCharacteristics([CBUUID(string: "2A38")], for: service)
      try await central.log.next("didDiscoverCharacteristicsFor")
      let location = try #require(service.characteristics?.first)
      #expect(service.characteristics?.count == 1)
      belt.discoverCharacteristics([], for: service)
      #expect(try await central.log.next("didDiscoverCharacteristicsFor").service === service)
      #expect(service.characteristics?.map(\.uuid) == [CBUUID(string: "2A37"), CBUUID(string: "2A38")])
      #expect(service.characteristics?.last === location)
      #expect(location.properties == .read)
      #expect(location.service === service)
      #expect(location.descriptors == nil)

      let rate = try #require(service.characteristics?.first)
      belt.discoverDescriptors(for: rate)
      #expect(try await central.log.next("didDiscoverDescriptorsFor").characteristic === rate)
      #expect(rate.descriptors?.map(\.uuid) == [CBUUID(string: "2902")])
      #expect(rate.descriptors?.first?.characteristic === rate)
      withExtendedLifetime(daemon) {}
    }

    @Test("R18: discovery is answered even if nothing is found")
    func whatIsNotThereIsAnsweredToo() async throws {
      let daemon = try await BledProcess()
      let central = Central()
      let belt = try await central.connected("Belt")
      belt.discoverServices([CBUUID(string: "FFF0")])
      let answer = try await central.log.next("didDiscoverServices")
      #expect(answer.error == nil)
      #expect(belt.services?.isEmpty == true)
      withExtendedLifetime(daemon) {}
    }

    @Test("R19: objects survive a reconnection")
    func objectsSurviveAReconnection() async throws {
      let daemon = try await BledProcess()
      let central = Central()
      let belt = try await central.connected("Belt")
      let rate = try await central.characteristic("2A37", of: "180D", on: belt)
      central.manager.cancelPeripheralConnection(belt)
      try await central.log.next("didDisconnect")
      #expect(belt.services?.count == 1)
      central.manager.connect(belt)
      try await central.log.next("didConnect")
      let again = try await central.characteristic("2A37", of: "180D", on: belt)
      #expect(again === rate)
      withExtendedLifetime(daemon) {}
    }

    @Test("R17, R20: values of any length, answered in the order of the requests")
    func readingValues() async throws {
      let daemon = try await BledProcess()
      let central = Central()
      let echo = try await central.connected("Echo")
      let text = try await central.characteristic(Air.echo, of: Air.custom, on: echo)
      let long = try await central.characteristic(Air.long, of: Air.custom, on: echo)
      #expect(text.value == nil)
      // The answers arrive in the order of the requests.
      echo.readValue(for: text)
      echo.readValue(for: long)
      echo.readRSSI()
      let first = try await central.log.next("didUpdateValueFor characteristic")
      #expect(first.characteristic === text)
      #expect(first.value == Data("Write something.".utf8))
      let second = try await central.log.next("didUpdateValueFor characteristic")
      #expect(second.characteristic === long)
      #expect(long.value?.count == 512)
      let third = try await central.log.next("didReadRSSI")
      #expect(try #require(third.rssi).intValue < 0)
      withExtendedLifetime(daemon) {}
    }

    @Test("R20, R23: the old value stays when the device returns an error")
    func whatTheDeviceRefusesKeepsTheOldValue() async throws {
      let daemon = try await BledProcess()
      let central = Central()
      let belt = try await central.connected("Belt")
      let rate = try await central.characteristic("2A37", of: "180D", on: belt)
      let location = try await central.characteristic("2A38", of: "180D", on: belt)
      belt.readValue(for: rate)
      let refused = try await central.log.next("didUpdateValueFor characteristic")
      #expect((refused.error as? CBATTError)?.code == .readNotPermitted)
      #expect(rate.value == nil)
      belt.writeValue(Data([1]), for: location, type: .withResponse)
      let unwritten = try await central.log.next("didWriteValueFor characteristic")
      #expect((unwritten.error as? CBATTError)?.code == .writeNotPermitted)
      belt.setNotifyValue(true, for: location)
      let unsubscribed = try await central.log.next("didUpdateNotificationStateFor")
      #expect((unsubscribed.error as? CBATTError)?.code == .requestNotSupported)
      #expect(!location.isNotifying)
      withExtendedLifetime(daemon) {}
    }

    @Test func descriptors() async throws {
      let daemon = try await BledProcess()
      let central = Central()
      let echo = try await central.connected("Echo")
      let text = try await central.characteristic(Air.echo, of: Air.custom, on: echo)
      echo.discoverDescriptors(for: text)
      try await central.log.next("didDiscoverDescriptorsFor")
      func descriptor(_ uuid: String) throws -> CBDescriptor {
        try #require(text.descriptors?.first { $0.uuid == CBUUID(string: uuid) })
      }
      for uuid in ["2901", "2904", "2902"] {
        echo.readValue(for: try descriptor(uuid))
        #expect(try await central.log.next("didUpdateValueFor descriptor").error == nil)
      }
      #expect(try descriptor("2901").value as? String == "Echo")
      #expect(try descriptor("2904").value as? Data == Data([4, 0, 0, 0x27, 1, 0, 0]))
      #expect(try descriptor("2902").value as? NSNumber == 0)
      // A fixed descriptor cannot be written; the delegate gets the error.
      echo.writeValue(Data([1]), for: try descriptor("2904"))
      #expect(try await central.log.next("didWriteValueFor descriptor").error is CBATTError)
      withExtendedLifetime(daemon) {}
    }

    @Test("R23: a write to descriptor 2902 ends the program") func writingTheConfiguration() async throws {
      let daemon = try await BledProcess()
      let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        let central = Central()
        let belt = try await central.connected("Belt")
        let rate = try await central.characteristic("2A37", of: "180D", on: belt)
        belt.discoverDescriptors(for: rate)
        try await central.log.next("didDiscoverDescriptorsFor")
        belt.writeValue(Data([1, 0]), for: try #require(rate.descriptors?.first))
      }
      let said = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
      #expect(said.contains("must be configured using setNotifyValue:"))
      withExtendedLifetime(daemon) {}
    }

    @Test("R21: writing values of any length")
    func writingValues() async throws {
      let daemon = try await BledProcess()
      let central = Central()
      let echo = try await central.connected("Echo")
      let text = try await central.characteristic(Air.echo, of: Air.custom, on: echo)
      for value in [Data("Hello".utf8), Data(repeating: 7, count: 500)] {
        echo.writeValue(value, for: text, type: .withResponse)
        echo.readValue(for: text)
        #expect(try await central.log.next("didWriteValueFor characteristic").error == nil)
        #expect(try await central.log.next("didUpdateValueFor characteristic").value == value)
      }
      #expect(echo.maximumWriteValueLength(for: .withoutResponse) == 197)
      let longest = Data(repeating: 9, count: 197)
      echo.writeValue(longest, for: text, type: .withoutResponse)
      // Too long for a packet: dropped.
      echo.writeValue(Data(count: 198), for: text, type: .withoutResponse)
      echo.readValue(for: text)
      #expect(try await central.log.next("didUpdateValueFor characteristic").value == longest)
      try await central.log.next("isReady")
      #expect(central.log.pending.isEmpty)
      withExtendedLifetime(daemon) {}
    }

    @Test("R22: there is room for writes without response again")
    func writesWithoutResponseHaveRoomOnceMore() async throws {
      let daemon = try await BledProcess()
      let central = Central()
      let echo = try await central.connected("Echo")
      let text = try await central.characteristic(Air.echo, of: Air.custom, on: echo)
      #expect(echo.canSendWriteWithoutResponse)
      // On the queue of the manager, so that no answer is handled in between.
      let sent = central.log.queue.sync {
        var sent = 0
        while echo.canSendWriteWithoutResponse, sent < 1000 {
          sent += 1
          echo.writeValue(Data("\(sent)".utf8), for: text, type: .withoutResponse)
        }
        return sent
      }
      #expect(sent < 1000)
      try await central.log.next("isReady")
      #expect(echo.canSendWriteWithoutResponse)
      echo.readValue(for: text)
      #expect(try await central.log.next("didUpdateValueFor characteristic").value == Data("\(sent)".utf8))
      #expect(central.log.pending.isEmpty)
      withExtendedLifetime(daemon) {}
    }

    @Test("R21: a value longer than 512 octets is refused as the device would refuse it")
    func writesThatAreTooLong() async throws {
      let daemon = try await BledProcess()
      let central = Central()
      let echo = try await central.connected("Echo")
      let text = try await central.characteristic(Air.echo, of: Air.custom, on: echo)
      echo.discoverDescriptors(for: text)
      try await central.log.next("didDiscoverDescriptorsFor")
      echo.writeValue(Data(count: 513), for: text, type: .withResponse)
      let refused = try await central.log.next("didWriteValueFor characteristic").error
      #expect((refused as? CBATTError)?.code == .invalidAttributeValueLength)
      let descriptor = try #require(text.descriptors?.first { $0.uuid.uuidString == "2901" })
      echo.writeValue(Data(count: 513), for: descriptor)
      let other = try await central.log.next("didWriteValueFor descriptor").error
      #expect((other as? CBATTError)?.code == .invalidAttributeValueLength)
      withExtendedLifetime(daemon) {}
    }

    @Test("R21: without response a value has 512 octets at most, however large the MTU")
    func theLongestWriteWithoutResponse() async throws {
      let daemon = try await BledProcess(Air.scenario(replacing: #""mtu": 200"#, with: #""mtu": 517"#))
      let central = Central()
      let echo = try await central.connected("Echo")
      #expect(echo.maximumWriteValueLength(for: .withoutResponse) == 512)
      let text = try await central.characteristic(Air.echo, of: Air.custom, on: echo)
      let value = Data((0..<512).map { UInt8(truncatingIfNeeded: $0) })
      echo.writeValue(value, for: text, type: .withoutResponse)
      echo.readValue(for: text)
      #expect(try await central.log.next("didUpdateValueFor characteristic").value == value)
      withExtendedLifetime(daemon) {}
    }

    @Test("R23: subscribing and unsubscribing")
    func subscribing() async throws {
      let daemon = try await BledProcess()
      let central = Central()
      let belt = try await central.connected("Belt")
      let rate = try await central.characteristic("2A37", of: "180D", on: belt)
      belt.setNotifyValue(true, for: rate)
      let state = try await central.log.next("didUpdateNotificationStateFor")
      #expect(state.characteristic === rate)
      #expect(state.error == nil)
      #expect(rate.isNotifying)
      for _ in 0..<3 {
        let value = try await central.log.next("didUpdateValueFor characteristic")
        #expect(value.characteristic === rate)
        #expect(value.value == Data([0x06, 0x48]))
      }
      belt.setNotifyValue(false, for: rate)
      try await central.log.next("didUpdateNotificationStateFor")
      #expect(!rate.isNotifying)
      await central.barrier()
      central.log.clear()
      belt.readRSSI()
      try await central.log.next("didReadRSSI")
      #expect(central.log.pending.isEmpty)
      #expect(!central.log.wasReentered)
      withExtendedLifetime(daemon) {}
    }

    @Test("R32: indications are subscribed to and confirmed")
    func indications() async throws {
      let daemon = try await BledProcess()
      let central = Central()
      let scale = try await central.connected("Scale")
      let temperature = try await central.characteristic("2A1C", of: "1809", on: scale)
      scale.setNotifyValue(true, for: temperature)
      try await central.log.next("didUpdateNotificationStateFor")
      #expect(try await central.log.next("didUpdateValueFor characteristic").value?.count == 5)
      try await daemon.disconnect("Scale")
      try await central.log.next("didDisconnect")
      #expect(!temperature.isNotifying)
      withExtendedLifetime(daemon) {}
    }

    @Test("R14: no answers after the end")
    func noAnswersAfterTheEnd() async throws {
      let daemon = try await BledProcess()
      let central = Central()
      let slow = try await central.connected("Slow")
      let name = try await central.characteristic("2A8A", of: "181C", on: slow)
      slow.readValue(for: name)
      slow.readValue(for: name)
      central.manager.cancelPeripheralConnection(slow)
      try await central.log.next("didDisconnect")
      #expect(slow.services?.count == 1)
      // The only answer is that of the next connection.
      central.manager.connect(slow)
      try await central.log.next("didConnect")
      slow.readValue(for: name)
      try await central.log.next("didUpdateValueFor characteristic")
      await central.barrier()
      #expect(central.log.pending.isEmpty)
      withExtendedLifetime(daemon) {}
    }

    @Test func theOlderAnswerToReadRSSI() async throws {
      final class Older: NSObject, CBPeripheralDelegate, @unchecked Sendable {
        let log = EventLog()
        func peripheralDidUpdateRSSI(_ peripheral: CBPeripheral, error: (any Error)?) {
          log.add(Event(name: "didUpdateRSSI", error: error))
        }
      }
      let daemon = try await BledProcess()
      let central = Central()
      let belt = try await central.connected("Belt")
      let older = Older()
      belt.delegate = older
      belt.readRSSI()
      #expect(try await older.log.next("didUpdateRSSI").error == nil)
      withExtendedLifetime(daemon) {}
    }

    @Test func theNameThatIsReadReplacesTheAdvertisedOne() async throws {
      let daemon = try await BledProcess(
        Air.scenario(
          replacing: #""advertising": { "name": "Belt""#, with: #""advertising": { "name": "B.""#))
      let central = Central()
      let belt = try await central.connected("B.")
      let name = try await central.characteristic("2A00", of: "1800", on: belt)
      belt.readValue(for: name)
      #expect(try await central.log.next("didUpdateName").peripheral === belt)
      #expect(belt.name == "Belt")
      withExtendedLifetime(daemon) {}
    }
  }
}
