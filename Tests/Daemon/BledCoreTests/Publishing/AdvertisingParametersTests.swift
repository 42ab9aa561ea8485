import Adapter
import BledRPC
import Bluetooth
import Testing

@testable import BledCore

/// Advertisements in clients' descriptions and in requests to the adapter.
@Suite struct AdvertisingParametersTests {
  private let world = World()
  private let client: TestClient

  init() {
    client = world.client()
    world.adapter.information.hasExtendedAdvertising = true
    world.adapter.information.maximumAdvertisingDataLength = 500
  }

  private typealias Params = AdvertisingStart.Params

  private func params(_ change: (inout Params) -> Void) -> Params {
    var params = Params()
    change(&params)
    return params
  }

  private func wanted(_ change: (inout Params) -> Void) throws -> AdvertisingParameters {
    try client.call(AdvertisingStart.self, params(change))
    return try #require(world.adapter.advertisements.max { $0.key.value < $1.key.value }?.value)
  }

  private func refusal(_ change: (inout Params) -> Void) throws -> RPCError {
    try #require(try client.error(AdvertisingStart.self, params(change)))
  }

  @Test func everythingReachesTheAdapter() throws {
    let parameters = try wanted {
      $0.extended = true
      $0.connectable = false
      $0.txPower = -20
      $0.includeTxPower = true
      $0.channels = [37, 39]
      $0.ownAddress = "C0:11:22:33:44:55"
      $0.primaryPHY = "coded"
      $0.count = 7
      $0.solicitedServices = [0x180D]
      $0.uri = "https://example.org"
      $0.structures = [.init(type: 0x1A, data: HexBytes([1, 0])), .init(type: 1, data: HexBytes([4]))]
    }
    #expect(parameters.kind == .nonconnectable && parameters.isExtended && parameters.scanResponse.isEmpty)
    #expect(parameters.txPower == -20 && parameters.includesTxPower)
    #expect(parameters.channels.rawValue == 5 && parameters.maximumEvents == 7)
    #expect(parameters.ownAddress == DeviceAddress(value: 0xC011_2233_4455, kind: .random))
    #expect(parameters.primaryPHY == .leCoded && parameters.secondaryPHY == .leCoded)
    let data = AdvertisingData(parsing: parameters.data)
    #expect(data.solicitedServiceUUIDs == [0x180D] && data.uri == "https://example.org")
    #expect(data.all(.flags) == [[4]] && data.first(.advertisingInterval) == [1, 0])
  }

  @Test("The coding goes with the PHY, and from the first to the second where that is not given")
  func coding() throws {
    func phys(_ primary: PrimaryPHYChoice?, _ secondary: PHYChoice?) throws -> [LinkPHY] {
      let parameters = try wanted { ($0.extended, $0.primaryPHY, $0.secondaryPHY) = (true, primary, secondary) }
      _ = try client.result(AdvertisingStop.self, .init())
      return [
        LinkPHY(parameters.primaryPHY, coding: parameters.primaryCoding),
        LinkPHY(parameters.secondaryPHY, coding: parameters.secondaryCoding),
      ]
    }
    let fast = LinkPHY(.leCoded, coding: .s2), far = LinkPHY(.leCoded, coding: .s8)
    #expect(try phys("codedS2", nil) == [fast, fast])
    #expect(try phys("codedS8", "codedS2") == [far, fast])
    #expect(try phys("codedS8", "coded") == [far, LinkPHY(.leCoded)])
    #expect(try phys(nil, "codedS8") == [LinkPHY(.le1M), far])
  }

  @Test func aTrainHasItsOwnContentAndInterval() throws {
    let parameters = try wanted {
      $0.extended = true
      $0.connectable = false
      $0.periodic = .init(interval: 0.0075, manufacturerData: HexBytes([0xFF, 0xFF, 7]), includeTxPower: true)
    }
    #expect(
      parameters.periodic
        == PeriodicAdvertising(
          interval: .microseconds(7500), data: [4, 0xFF, 0xFF, 0xFF, 7], includesTxPower: true))
    #expect(parameters.data == [2, 1, 6])
  }

  @Test func whatDoesNotGoWithATrainIsRefusedWithTheRule() throws {
    func refuses(_ words: String, _ change: (inout Params) -> Void) throws {
      let error = try refusal {
        ($0.extended, $0.connectable, $0.periodic) = (true, false, .init())
        change(&$0)
      }
      #expect(error.message.contains(words) && error.data?.name == "invalidParameter", "\(error)")
    }
    try refuses("\"extended\":true") { $0.extended = nil }
    try refuses("\"connectable\":false") { $0.connectable = nil }
    try refuses("\"connectable\":false") { $0.scannable = true }
    try refuses("anonymous") { $0.anonymous = true }
    for interval in [0.007, 82, -1] { try refuses("0.0075 to 81.91875") { $0.periodic?.interval = interval } }
    let long = try refusal {
      ($0.extended, $0.connectable) = (true, false)
      let octets = HexBytes([UInt8](repeating: 0, count: 254))
      $0.periodic = .init(structures: (0..<7).map { .init(type: $0, data: octets) })
    }
    #expect(long.data?.name == "advertisingDataTooLong", "\(long)")
  }

  @Test func whatIsNotExtendedIsSentAsItWas() throws {
    let parameters = try wanted { $0.name = "Belt" }
    #expect(
      parameters
        == AdvertisingParameters(data: try AdvertisingContent(name: "Belt").packed().data, scanResponse: []))
    #expect(try wanted { $0.connectable = false }.kind == .nonconnectable)
    let beacon = try wanted {
      $0.connectable = false
      $0.scannable = true
    }
    #expect(beacon.kind == .scannable)
  }

  @Test func aScannableExtendedOneHasNoFlagsAndAllInTheScanResponse() throws {
    let parameters = try wanted {
      $0.extended = true
      $0.scannable = true
      $0.manufacturerData = HexBytes([UInt8](repeating: 1, count: 200))
    }
    #expect(parameters.kind == .scannable && parameters.data.isEmpty && parameters.scanResponse.count == 202)
  }

  @Test func aDirectedOneNamesADevice() throws {
    let parameters = try wanted {
      $0.directedTo = "C0:11:22:33:44:55"
      $0.highDuty = true
    }
    #expect(parameters.kind == .directed(DeviceAddress(value: 0xC011_2233_4455, kind: .random), isHighDuty: true))
    #expect(parameters.data.isEmpty)
    let other = try wanted {
      $0.directedTo = "00:11:22:33:44:55"
      $0.extended = true
    }
    #expect(other.target?.kind == .public && !other.data.isEmpty)
    #expect(try refusal { $0.directedTo = "nobody" }.data?.name == "unknownDevice")
  }

  @Test("The limit of the controller, and what would help, stand in the error")
  func tooLong() throws {
    let data = HexBytes([UInt8](repeating: 1, count: 240))
    let legacy = try refusal { $0.manufacturerData = data }
    #expect(legacy.data?.name == "advertisingDataTooLong")
    #expect(legacy.message.hasSuffix("with \"extended\":true it may have 245 in one"))
    let connectable = try refusal {
      $0.extended = true
      $0.manufacturerData = data
      $0.appearance = 1
    }
    #expect(connectable.message.hasSuffix("this adapter sends at most 245 in such an advertisement"))
    let parameters = try wanted {
      $0.extended = true
      $0.connectable = false
      $0.manufacturerData = data
      $0.serviceData = ["180F": HexBytes([UInt8](repeating: 2, count: 240))]
    }
    #expect(parameters.data.count == 3 + 242 + 244)
  }

  private static let nonsense: [@Sendable (inout AdvertisingStart.Params) -> Void] = [
    { $0.anonymous = true }, { $0.includeTxPower = true }, { $0.primaryPHY = "coded" }, { $0.secondaryPHY = "2M" },
    { $0.primaryPHY = "codedS2" },
    { ($0.extended, $0.anonymous, $0.connectable) = (true, true, true) },
    { ($0.extended, $0.anonymous, $0.scannable) = (true, true, true) },
    { ($0.extended, $0.connectable, $0.scannable) = (true, true, true) }, { $0.scannable = false },
    { $0.highDuty = true }, { ($0.directedTo, $0.connectable) = ("C0:11:22:33:44:55", false) },
    { ($0.directedTo, $0.name) = ("C0:11:22:33:44:55", "x") },
    { ($0.directedTo, $0.extended, $0.highDuty) = ("C0:11:22:33:44:55", true, true) },
    { $0.txPower = 21 }, { $0.txPower = -128 }, { $0.channels = [] }, { $0.channels = [36] },
    { $0.ownAddress = "80:11:22:33:44:55" }, { $0.ownAddress = "C0:00:00:00:00:00" },
    { $0.ownAddress = "FF:FF:FF:FF:FF:FF" }, { $0.count = 0 }, { $0.count = 256 },
    { ($0.count, $0.interval) = (31, 1) }, { $0.duration = 0 }, { $0.duration = 86401 }, { $0.uri = "" },
    { $0.structures = [.init(type: 256, data: HexBytes([]))] },
    { $0.structures = [.init(type: 1, data: HexBytes([UInt8](repeating: 0, count: 255)))] },
  ]

  @Test(arguments: nonsense.indices)
  func nonsenseIsRefused(_ index: Int) throws {
    #expect(try refusal(Self.nonsense[index]).data?.name == "invalidParameter")
    #expect(world.adapter.advertisements.isEmpty)
  }

  @Test("The duration counts from the first time on the air; the end is told once")
  func duration() throws {
    let call = try client.call(AdvertisingStart.self, params { $0.duration = 3 })
    let id = try #require(world.adapter.advertisements.keys.first)
    world.scheduler.advance(by: .seconds(10))
    world.adapter.onEvent?(.advertising(id, .on(interval: .milliseconds(100))))
    let number = try #require(try client.answer(to: call, AdvertisingStart.self)).get().advertising
    world.adapter.onEvent?(.advertising(id, .off))
    world.scheduler.advance(by: .seconds(2))
    world.adapter.onEvent?(.advertising(id, .on(interval: .milliseconds(100))))
    world.scheduler.advance(by: .milliseconds(999))
    #expect(world.adapter.advertisements.count == 1)
    world.scheduler.advance(by: .milliseconds(2))
    #expect(world.adapter.advertisements.isEmpty)
    let changes = try client.notifications(AdvertisingChanged.self)
    #expect(changes.map(\.ended) == [nil, nil, "duration"] && changes.last?.onAir == false)
    #expect(
      try client.error(AdvertisingStop.self, .init(advertising: number))?.data?.name == "unknownHandle")
  }

  @Test func whatTheAdapterEndsIsToldWithItsReason() throws {
    let call = try client.call(AdvertisingStart.self, params { ($0.count, $0.txPower) = (5, 4) })
    let id = try #require(world.adapter.advertisements.keys.first)
    world.adapter.onEvent?(.advertising(id, .on(interval: .milliseconds(100), txPower: 3)))
    #expect(try #require(try client.answer(to: call, AdvertisingStart.self)).get().txPower == 3)
    world.adapter.onEvent?(.advertising(id, .ended(.count)))
    #expect(try client.notifications(AdvertisingChanged.self).map(\.ended) == ["count"])
    #expect(world.adapter.advertisements.isEmpty)
    #expect(try client.result(AdapterList.self, Empty()).adapters.first?.advertising == 0)
  }
}
