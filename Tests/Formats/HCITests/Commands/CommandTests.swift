import Bluetooth
import HCI
import Testing

/// Commands as octets, written from the specification (Core 5.4, Vol 4, Part E, 7.8).
struct CommandTests {
  private func hex(_ command: some HCICommand) -> String {
    Hex.encode(HCIPacket.command(CommandPacket(command)).octets)
  }

  private func packed(_ hex: String) -> String { hex.filter { $0 != " " } }

  @Test func scanning() {
    #expect(
      hex(
        LESetScanParameters {
          $0.isActive = true
          $0.interval = 0x60
          $0.window = 0x30
          $0.ownAddressType = .random
        }) == packed("010b2007 01 6000 3000 01 00"))
    #expect(hex(LESetScanEnable { $0.isEnabled = true }) == "010c20020100")
    let scan = LESetExtendedScanParameters.Scan {
      $0.interval = 0x60
      $0.window = 0x30
    }
    #expect(
      hex(
        LESetExtendedScanParameters {
          $0.phys = 0b101
          $0.scans = [scan, scan]
        }) == packed("0141200d 00 00 05 00 6000 3000 00 6000 3000"))
  }

  @Test func monitoredAdvertisers() throws {
    let add = LEAddDeviceToMonitoredAdvertisersList {
      $0.peer = HCIAddress(DeviceAddress(value: 0xC011_2233_4455, kind: .random))
      $0.low = -80
      $0.high = -70
      $0.timeout = 30
    }
    #expect(hex(add) == packed("0198200a 01 5544332211c0 b0 ba 1e"))
    #expect(hex(LEClearMonitoredAdvertisersList()) == "019a2000")
    #expect(hex(LEReadMonitoredAdvertisersListSize()) == "019b2000")
    #expect(hex(LEEnableMonitoringAdvertisers { $0.isEnabled = true }) == "019c200101")
    #expect(try LEAddDeviceToMonitoredAdvertisersList(decoding: CommandPacket(add)) == add)
  }

  @Test func flowControlToTheHost() {
    #expect(
      hex(
        HostBufferSize {
          $0.aclDataPacketLength = 0x3FF
          $0.aclDataPackets = 64
        }) == packed("01330c07 ff03 00 4000 0000"))
    #expect(hex(SetControllerToHostFlowControl { $0.mode = 1 }) == "01310c0101")
    let link = HostNumberOfCompletedPackets.Link {
      $0.handle = 0x0E01
      $0.packets = 5
    }
    #expect(hex(HostNumberOfCompletedPackets { $0.links = [link, link] }) == packed("01350c09 02 010e 0500 010e 0500"))
  }

  @Test func advertisingDataIsFilledToThirtyOneOctets() {
    let zeros = String(repeating: "00", count: 28)
    #expect(hex(LESetAdvertisingData { $0.data = [2, 1, 6] }) == "0108202003020106\(zeros)")
    let tooLong = LESetScanResponseData { $0.data = [UInt8](repeating: 0xAA, count: 40) }
    let cut = String(repeating: "aa", count: 31)
    #expect(hex(tooLong) == "010920201f\(cut)")
  }

  @Test func longExtendedDataIsCutIntoFragments() {
    let data = [UInt8](repeating: 7, count: 600)
    let fragments = AdvertisingDataFragment.fragments(of: data, advertisingHandle: 3)
    #expect(fragments.map(\.operation) == [.first, .intermediate, .last])
    #expect(fragments.map(\.data.count) == [251, 251, 98])
    #expect(fragments.flatMap(\.data) == data)
    #expect(AdvertisingDataFragment.fragments(of: [], advertisingHandle: 3).map(\.operation) == [.complete])
    #expect(hex(LESetExtendedAdvertisingData { $0.fragment = fragments[0] }).hasPrefix("013720ff030101fb0707"))
  }

  @Test func initiating() {
    let peer = HCIAddress(DeviceAddress(value: 0xF0F1_F2F3_F4F5, kind: .random))
    #expect(
      hex(
        LECreateConnection {
          $0.scanInterval = 0x60
          $0.scanWindow = 0x30
          $0.filterPolicy = 1
          $0.peer = peer
          $0.intervalMin = 12
          $0.intervalMax = 36
          $0.supervisionTimeout = 400
        }) == packed("010d2019 6000 3000 01 01 f5f4f3f2f1f0 00 0c00 2400 0000 9001 0000 0000"))
    #expect(hex(LECreateConnectionCancel()) == "010e2000")
    #expect(hex(LEAddDeviceToFilterAcceptList { $0.device = peer }) == "0111200701f5f4f3f2f1f0")
  }

  @Test func transferringTrains() {
    #expect(
      hex(
        LEPeriodicAdvertisingSyncTransfer {
          $0.connectionHandle = 0x40
          $0.serviceData = 0x1234
          $0.syncHandle = 2
        }) == packed("015a2006 4000 3412 0200"))
    #expect(
      hex(
        LEPeriodicAdvertisingSetInfoTransfer {
          $0.connectionHandle = 0x40
          $0.serviceData = 0x1234
          $0.advertisingHandle = 5
        }) == packed("015b2005 4000 3412 05"))
    #expect(
      hex(
        LESetPeriodicAdvertisingSyncTransferParameters {
          $0.connectionHandle = 0x40
          $0.mode = LESetPeriodicAdvertisingSyncTransferParameters.followed
          $0.skip = 3
          $0.timeout = 3000
        }) == packed("015c2008 4000 02 0300 b80b 00"))
  }

  @Test func subeventsOfTrains() {
    #expect(
      hex(
        LESetPeriodicAdvertisingParametersV2 {
          $0.parameters.advertisingHandle = 1
          $0.parameters.intervalMin = 0x50
          $0.parameters.intervalMax = 0x60
          $0.parameters.properties = 0x40
          $0.subevents = 4
          $0.subeventInterval = 0x14
          $0.slotDelay = 5
          $0.slotSpacing = 6
          $0.slots = 7
        }) == packed("0186200c 01 5000 6000 4000 04 14 05 06 07"))
    let long = LESetPeriodicAdvertisingSubeventData {
      $0.advertisingHandle = 1
      $0.subevents = [
        .init {
          $0.number = 3
          $0.firstSlot = 2
          $0.slots = 4
          $0.data = [UInt8](repeating: 9, count: 300)
        }
      ]
    }
    #expect(hex(long) == packed("018220ff 01 01 03 02 04 f9") + String(repeating: "09", count: 249))
    #expect(TimeUnits.slotSpacing(.microseconds(250)) == 2 && TimeUnits.slotSpacing(.seconds(1)) == 0xFF)
    #expect(TimeUnits.subevent(.milliseconds(25)) == 20 && TimeUnits.slotDelay(.zero) == 1)
  }

  @Test func subeventsOfFollowedTrains() {
    #expect(
      hex(
        LESetPeriodicSyncSubevent {
          $0.syncHandle = 0x123
          $0.subevents = [0, 5, 127]
        }) == packed("01842008 2301 0000 03 00 05 7f"))
    let response = LESetPeriodicAdvertisingResponseData {
      $0.syncHandle = 0x123
      $0.requestEvent = 0xFFFE
      $0.requestSubevent = 5
      $0.responseSubevent = 6
      $0.slot = 3
      $0.data = [1, 2]
    }
    #expect(hex(response) == packed("0183200a 2301 feff 05 06 03 02 0102"))
    var longest = response
    longest.data = [UInt8](repeating: 9, count: 300)
    #expect(hex(longest) == packed("018320ff 2301 feff 05 06 03 f7") + String(repeating: "09", count: 247))
  }

  @Test func aCommandKnowsWhatItReads() throws {
    let packet = CommandPacket(opcode: LESetScanEnable.opcode, parameters: [1, 0, 0])
    #expect(throws: HCICodingError.trailingOctets(count: 1)) { try LESetScanEnable(decoding: packet) }
    let half = CommandPacket(opcode: LESetScanEnable.opcode, parameters: [1])
    #expect(throws: HCICodingError.truncated(missing: 1)) { try LESetScanEnable(decoding: half) }
    let nonsense = CommandPacket(opcode: LESetScanEnable.opcode, parameters: [2, 0])
    #expect(throws: HCICodingError.invalidValue(2)) { try LESetScanEnable(decoding: nonsense) }
  }

  @Test func everyKnownCommandHasAnOpcodeOfItsOwn() {
    #expect(Set(KnownCommands.all.map { $0.opcode }).count == KnownCommands.all.count)
    #expect(KnownCommands.type(of: 0x200C) == LESetScanEnable.self)
    #expect(KnownCommands.type(of: .none) == nil)
  }

  @Test("There is no command that inquires, pages or connects over BR/EDR, nor one that resets (P5, P7)")
  func nothingButLowEnergy() {
    // In link control (group 1), the commands for an existing link: Disconnect and Read Remote Version Information.
    let linkControl = KnownCommands.all.map { $0.opcode }.filter { $0.group == 1 }
    #expect(Set(linkControl) == [0x0406, 0x041D])
    #expect(KnownCommands.type(of: 0x0C03) == nil)
  }

  @Test func durationsBecomeUnits() {
    #expect(TimeUnits.scan(.milliseconds(60)) == 96)
    #expect(TimeUnits.scan(.zero) == 4)
    #expect(TimeUnits.scan(.seconds(60)) == 0x4000)
    #expect(TimeUnits.connection(.milliseconds(15)) == 12)
    #expect(TimeUnits.connection(.seconds(Int64.max)) == 0x0C80)
    #expect(TimeUnits.supervision(.seconds(-1)) == 10)
    #expect(TimeUnits.slots(160) == .milliseconds(100))
  }
}
