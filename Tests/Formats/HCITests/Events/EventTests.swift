import Bluetooth
import HCI
import Testing

/// Events as octets, written from the specification (Core 5.4, Vol 4, Part E, 7.7).
struct EventTests {
  private func event(_ hex: String) throws -> HCIEvent {
    let octets = try #require(Hex.decode(hex.filter { $0 != " " }))
    guard case .event(let packet) = try HCIPacket(decoding: octets) else {
      Issue.record("not an event")
      return .other(EventPacket(code: 0, parameters: []))
    }
    return try HCIEvent(decoding: packet)
  }

  @Test func severalReportsInOneEvent() throws {
    let two = try event("043e19 02 02 00 01 f5f4f3f2f1f0 03 020106 c4 04 00 010203040506 00 7f")
    guard case .leAdvertisingReport(let reports) = two else {
      Issue.record("not reports")
      return
    }
    #expect(reports.reports.map(\.eventType) == [0, 4])
    #expect(reports.reports[0].address.device == DeviceAddress("F0:F1:F2:F3:F4:F5", kind: .random))
    #expect(reports.reports[0].rssi == -60)
    #expect(reports.reports[1].data.isEmpty)
  }

  @Test func aReportThatClaimsMoreThanThereIs() {
    #expect(throws: HCICodingError.self) { try event("043e0f 02 01 00 01 f5f4f3f2f1f0 1f 020106 c4") }
    #expect(throws: HCICodingError.self) { try event("043e02 02 ff") }
    #expect(throws: HCICodingError.self) { try event("043e00") }
  }

  @Test("Controllers of later versions append fields to events and returned parameters: what is known is read")
  func octetsBehindWhatIsKnownAreAccepted() throws {
    #expect(try event("040505 00 0100 13 00") == event("040504 00 0100 13"))
    let connected = "0a 00 4000 00 01 f5f4f3f2f1f0 000000000000 000000000000 2400 0000 9001 00"
    #expect(try event("043e22 \(connected) aabbcc") == event("043e1f \(connected)"))
    let report = "02 01 00 01 f5f4f3f2f1f0 03 020106 c4"
    #expect(try event("043e10 \(report) aa") == event("043e0f \(report)"))
    guard case .commandComplete(let complete) = try event("040e09 01 0514 00 4000 c4 aabb") else {
      Issue.record("not a Command Complete")
      return
    }
    #expect(try complete.decoded(as: ReadRSSI.self).rssi == -60)
    // The known fields must be there all the same.
    #expect(throws: HCICodingError.truncated(missing: 1)) { try event("043e1e \(connected.dropLast(3))") }
    #expect(throws: HCICodingError.truncated(missing: 1)) { try event("040503 00 0100") }
    // The packet itself ends where its length says.
    #expect(throws: HCICodingError.trailingOctets(count: 1)) { try event("040504 00 0100 13 00") }
  }

  @Test func aTrainThatADeviceTransferred() throws {
    let packet = "043e14 18 00 4000 3412 0100 03 01 f5f4f3f2f1f0 02 5000 07"
    guard case .lePeriodicAdvertisingSyncTransferReceived(let event) = try event(packet) else {
      Issue.record("not a transfer")
      return
    }
    #expect(event.status.isSuccess && event.connectionHandle == 0x40 && event.serviceData == 0x1234)
    #expect(event.handle == 1 && event.sid == 3 && event.phy == 2 && event.interval == 80 && event.clockAccuracy == 7)
    #expect(event.advertiser.device == DeviceAddress("F0:F1:F2:F3:F4:F5", kind: .random))
    #expect(Hex.encode(HCIPacket.event(event.packet).octets) == packet.filter { $0 != " " })
  }

  @Test func trainsWithSubevents() throws {
    let found = "043e14 24 00 0100 03 01 f5f4f3f2f1f0 02 5000 07 04 14 04 14"
    guard case .lePeriodicAdvertisingSyncEstablishedV2(let event) = try event(found) else {
      Issue.record("not an establishment")
      return
    }
    #expect(event.established.handle == 1 && event.established.sid == 3 && event.established.interval == 80)
    #expect(event.subevents.count == 4 && event.subevents.interval == 20)
    #expect(event.subevents.slotDelay == 4 && event.subevents.slotSpacing == 20)
    #expect(Hex.encode(HCIPacket.event(event.packet).octets) == found.filter { $0 != " " })
    let heard = "043e0d 25 0100 04 c3 ff feff 03 00 02 0506"
    guard case .lePeriodicAdvertisingReportV2(let report) = try self.event(heard) else {
      Issue.record("not a report")
      return
    }
    #expect(report.handle == 1 && report.txPower == 4 && report.rssi == -61)
    #expect(report.event == 0xFFFE && report.number == 3 && report.dataStatus == 0 && report.data == [5, 6])
    #expect(Hex.encode(HCIPacket.event(report.packet).octets) == heard.filter { $0 != " " })
    let taken = "043e18 26 00 4000 3412 0100 03 01 f5f4f3f2f1f0 02 5000 07 04 14 04 14"
    guard case .lePeriodicAdvertisingSyncTransferReceivedV2(let transfer) = try self.event(taken) else {
      Issue.record("not a transfer")
      return
    }
    #expect(transfer.received.serviceData == 0x1234 && transfer.received.handle == 1 && transfer.subevents.count == 4)
    #expect(Hex.encode(HCIPacket.event(transfer.packet).octets) == taken.filter { $0 != " " })
    #expect(throws: HCICodingError.self) { try self.event("043e10 24 00 0100 03 01 f5f4f3f2f1f0 02 5000 07") }
    #expect(throws: HCICodingError.self) { try self.event("043e0b 25 0100 04 c3 ff feff 03 00 02") }
  }

  @Test func subeventsAndTheirResponses() throws {
    guard case .lePeriodicAdvertisingSubeventDataRequest(let request) = try event("043e04 27 01 7f 80") else {
      Issue.record("not a request")
      return
    }
    #expect(request.advertisingHandle == 1 && request.first == 127 && request.count == 128)
    let packet = "043e13 28 01 05 00 02 7f c4 ff 01 00 02 0102 04 c3 ff 05 ff 00"
    guard case .lePeriodicAdvertisingResponseReport(let report) = try event(packet) else {
      Issue.record("not a report")
      return
    }
    #expect(report.advertisingHandle == 1 && report.number == 5 && report.txStatus == 0)
    #expect(report.responses.map(\.slot) == [1, 5] && report.responses.map(\.dataStatus) == [0, 0xFF])
    #expect(report.responses.map(\.data) == [[1, 2], []] && report.responses.map(\.rssi) == [-60, -61])
    #expect(throws: HCICodingError.self) { try event("043e07 28 01 05 00 02 7f c4") }
  }

  @Test func aSubrateChange() throws {
    guard case .leSubrateChange(let change) = try event("043e0c 23 00 4000 0400 0100 0200 5802") else {
      Issue.record("not a Subrate Change")
      return
    }
    #expect(change.handle == 0x40 && change.factor == 4 && change.latency == 1)
    #expect(change.continuationNumber == 2 && change.supervisionTimeout == 600)
    #expect(throws: HCICodingError.truncated(missing: 1)) { try event("043e0b 23 00 4000 0400 0100 0200 58") }
  }

  @Test func aMonitoredAdvertiser() throws {
    guard case .leMonitoredAdvertisersReport(let report) = try event("043e09 34 01 5544332211c0 01") else {
      Issue.record("not a Monitored Advertisers Report")
      return
    }
    #expect(report.peer.device == DeviceAddress(value: 0xC011_2233_4455, kind: .random) && report.condition == 1)
    #expect(HCIEvent.leMonitoredAdvertisersReport(report).packet.parameters.first == 0x34)
    #expect(throws: HCICodingError.truncated(missing: 1)) { try event("043e08 34 01 5544332211c0") }
  }

  @Test func aRateChange() throws {
    guard case .leConnectionRateChange(let change) = try event("043e0e 37 00 4000 0300 0400 0100 0200 5802") else {
      Issue.record("not a Connection Rate Change")
      return
    }
    #expect(change.handle == 0x40 && change.interval == 3 && change.factor == 4 && change.latency == 1)
    #expect(change.continuationNumber == 2 && change.supervisionTimeout == 600)
    #expect(TimeUnits.rateUnits(3) == .microseconds(375) && TimeUnits.rate(.microseconds(375)) == 3)
    #expect(TimeUnits.rate(.zero) == 3 && TimeUnits.rate(.seconds(5)) == 32_000)
  }

  @Test func anAnonymousAdvertiserHasNoDevice() throws {
    let anonymous = try event("043e1a 0d 01 2000 ff 000000000000 01 01 00 7f b0 0000 00 000000000000 00")
    guard case .leExtendedAdvertisingReport(let reports) = anonymous else {
      Issue.record("not reports")
      return
    }
    #expect(reports.reports[0].address.device == nil)
    #expect(reports.reports[0].eventType == .incomplete)
  }

  @Test func aFailedCommandNeedNotReturnMoreThanItsStatus() throws {
    guard case .commandComplete(let complete) = try event("040e04 01 0514 02") else {
      Issue.record("not a Command Complete")
      return
    }
    #expect(complete.opcode == ReadRSSI.opcode)
    #expect(complete.status.code == .unknownConnectionIdentifier)
    #expect(throws: HCICodingError.self) { try complete.decoded(as: ReadRSSI.self) }
  }

  @Test func unknownEventsAreKept() throws {
    #expect(try event("04ff0201aa") == .other(EventPacket(code: 0xFF, parameters: [1, 0xAA])))
    #expect(try event("043e0380aabb") == .other(EventPacket(code: 0x3E, parameters: [0x80, 0xAA, 0xBB])))
  }

  @Test func statusesHaveTheSpecificationsNames() {
    let error = HCIStatus(.connectionFailedToBeEstablished).error("no connection to F0:F1:F2:F3:F4:F5")
    #expect(error.domain == .hci)
    #expect(error.code == 0x3E)
    #expect(error.name == "connectionFailedToBeEstablished")
    #expect(error.message.hasPrefix("no connection to F0:F1:F2:F3:F4:F5: the connection could not be established"))
    #expect(HCIStatus(rawValue: 0xEE).error().name == "unknown")
    // All of Vol 1, Part F, 1.3: 0x00 to 0x48 but the three that are reserved.
    let named = (UInt8(0)...0x48).filter { HCIErrorCode(rawValue: $0) != nil }
    #expect(named.count == 0x49 - 3)
    #expect(HCIErrorCode.allCases.count == named.count)
  }
}
