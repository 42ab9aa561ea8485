import Bluetooth
import Testing

/// The AD types beyond those of every advertisement: each as built, in wire octets, and as read again.
@Suite struct AdvertisingDataFieldTests {
  private func read(_ structures: [AdvertisingData.Structure], _ hex: String) throws -> AdvertisingData {
    let octets = try AdvertisingData(structures).encode()
    #expect(Hex.encode(octets) == hex.filter { $0 != " " })
    return AdvertisingData(parsing: octets)
  }

  @Test func linkFields() throws {
    #expect(try read([.role(.preferablyCentral)], "02 1c 03").role == .preferablyCentral)
    let range = AdvertisingData.ConnectionIntervalRange(minimum: 6, maximum: nil)
    #expect(try read([.connectionIntervalRange(range)], "05 12 0600 ffff").connectionIntervalRange == range)
    #expect(try read([.advertisingInterval(0xA0)], "03 1a a000").advertisingInterval == 0xA0)
    #expect(try read([.advertisingInterval(0x1_0000)], "04 2f 000001").advertisingInterval == 0x1_0000)
    #expect(try read([.advertisingInterval(0x100_0000)], "05 2f 00000001").advertisingInterval == 0x100_0000)
    #expect(try read([.supportedFeatures(0x1_01)], "03 27 0101").supportedFeatures == 0x101)
    #expect(try read([.supportedFeatures(0)], "02 27 00").supportedFeatures == 0)
    let update = AdvertisingData.ChannelMapUpdate(channelMap: 0x1F_FFFF_FF00, instant: 0x1234)
    #expect(try read([.channelMapUpdate(update)], "08 28 00ffffff1f 3412").channelMapUpdate == update)
    let timing = AdvertisingData.PeriodicResponseTiming(
      accessAddress: 0x1234_5678, subevents: 1, subeventInterval: 6, responseSlotDelay: 2, responseSlotSpacing: 8)
    #expect(try read([.periodicResponseTiming(timing)], "09 32 78563412 01 06 02 08").periodicResponseTiming == timing)
  }

  @Test func addresses() throws {
    let random = DeviceAddress(value: 0xC0FF_EE00_0102, kind: .random)
    let fixed = DeviceAddress(value: 0x0011_2233_4455, kind: .public)
    #expect(try read([.deviceAddress(random)], "08 1b 020100eeffc0 01").deviceAddress == random)
    let targets = try read(
      AdvertisingData.Structure.targetAddresses([fixed, random, fixed]),
      "0d 17 554433221100 554433221100 07 18 020100eeffc0")
    #expect(targets.targetAddresses == [fixed, fixed, random])
    #expect(AdvertisingData([.init(.publicTargetAddress, [1, 2, 3])]).targetAddresses.isEmpty)
    #expect(AdvertisingData([.init(.deviceAddress, [1, 2, 3])]).deviceAddress == nil)
  }

  @Test func pairingFields() throws {
    let flags: AdvertisingData.SecurityManagerFlags = [.outOfBandDataPresent, .randomAddress]
    #expect(try read([.securityManagerFlags(flags)], "02 11 09").securityManagerFlags == flags)
    #expect(try read([.classOfDevice(0x24_0404)], "04 0d 040424").classOfDevice == 0x24_0404)
    let value = (0..<16).map { UInt8($0) }
    let data = AdvertisingData([
      .init(.securityManagerTK, value), .init(.secureConnectionsConfirmation, value),
      .init(.secureConnectionsRandom, value), .init(.broadcastCode, [1]),
    ])
    #expect(data.temporaryKey == value)
    #expect(data.secureConnectionsConfirmation == value)
    #expect(data.secureConnectionsRandom == value)
    #expect(data.broadcastCode == nil)
  }

  @Test func uris() throws {
    #expect(try read([.uri("https://a.b")], "07 24 17 2f2f612e62").uri == "https://a.b")
    #expect(try read([.uri("http://a")], "05 24 16 2f2f61").uri == "http://a")
    #expect(try read([.uri("x:y")], "05 24 01 783a79").uri == "x:y")
    #expect(AdvertisingData([.init(.uri, [])]).uri == nil)
    #expect(AdvertisingData([.init(.uri, [0x05, 0x41])]).uri == nil)
    #expect(AdvertisingData([.init(.uri, [0xFF])]).uri == nil)
  }

  @Test func contentFields() throws {
    #expect(try read([.broadcastName("Hall")], "05 30 48616c6c").broadcastName == "Hall")
    let identifier = AdvertisingData.ResolvableSetIdentifier(hash: 0x1948DA, random: 0x69F563)
    let set = try read([.resolvableSetIdentifier(identifier)], "07 2e da4819 63f569")
    #expect(set.resolvableSetIdentifier == identifier)
    let encrypted = try #require(AdvertisingData.EncryptedData(octets: [1, 2, 3, 4, 5, 9, 9, 6, 7, 8, 9]))
    #expect(encrypted.payload == [9, 9])
    #expect(try read([.encryptedData(encrypted)], "0c 31 0102030405 0909 06070809").encryptedData == encrypted)
    #expect(AdvertisingData([.init(.encryptedData, [1, 2, 3, 4, 5, 6, 7, 8])]).encryptedData == nil)
    let blocks = [
      AdvertisingData.TransportBlock(organization: 1, flags: 2, data: [3, 4]),
      .init(organization: 5, flags: 6, data: []),
    ]
    #expect(try read([.transports(blocks)], "09 26 01 02 02 0304 05 06 00").transports == blocks)
    #expect(AdvertisingData([.init(.transportDiscovery, [1, 2, 3, 4])]).transports.isEmpty)
  }
}
