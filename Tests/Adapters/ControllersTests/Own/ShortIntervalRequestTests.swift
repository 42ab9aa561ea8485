import Adapter
import Bluetooth
import HCI
import Testing

@testable import Host
@testable import Controllers

/// Requests for intervals below 7.5 ms, on a link as peripheral of a scripted controller.
@Suite struct ShortIntervalRequestTests {
  private static let handle: ConnectionHandle = 0x40
  private let quick = ConnectionParameters(interval: .microseconds(1250)...(.microseconds(1250)))
  private let slow = ConnectionParameters(interval: .milliseconds(30)...(.milliseconds(30)))

  /// A stage with a controller that has a shortest interval, in 0.125 ms.
  private func stage(shortest: UInt8 = 3, _ change: (ScriptedController) -> Void = { _ in }) throws -> HostStage {
    let stage = try HostStage {
      $0.returned[0x2003] = [0, 0, 0, 0, 0, 0, 0, 0x80]
      $0.returned[0x1002] = [UInt8](repeating: 0, count: 47) + [0x1C, 0xE0] + [UInt8](repeating: 0, count: 15)
      $0.returned[0x2087] = [1, 0, 0, 0, 0, 0, 0, 0, 0x80, 0, 1] + [UInt8](repeating: 0, count: 238)
      $0.returned[0x20A3] = [shortest, 0]
      $0.started.formUnion([0x2088, 0x20A1])
      change($0)
    }
    try stage.controller.tell(HostStage.connected(Self.handle))
    try stage.settle()
    return stage
  }

  /// The commands about its parameters and features so far.
  private func asked(_ stage: HostStage) -> [UInt16] {
    stage.controller.commands.map(\.opcode.rawValue).filter { [0x2013, 0x2088, 0x20A1].contains($0) }
  }

  private func tellFeatures(_ more: LEMoreFeatures, _ stage: HostStage) throws {
    try stage.controller.tell(
      .leReadAllRemoteFeaturesComplete(
        LEReadAllRemoteFeaturesComplete {
          $0.handle = Self.handle
          ($0.lastPage, $0.lastValidPage, $0.more) = (1, 1, more)
        }))
    try stage.settle()
  }

  private func tellRate(_ interval: UInt16, _ stage: HostStage, _ status: HCIStatus = .success) throws {
    try stage.controller.tell(
      .leConnectionRateChange(
        LEConnectionRateChange {
          ($0.status, $0.handle) = (status, Self.handle)
          ($0.interval, $0.supervisionTimeout) = (interval, 400)
        }))
    try stage.settle()
  }

  private func tellUpdate(_ interval: UInt16, _ stage: HostStage) throws {
    try stage.controller.tell(
      .leConnectionUpdateComplete(
        LEConnectionUpdateComplete {
          ($0.handle, $0.interval, $0.supervisionTimeout) = (Self.handle, interval, 400)
        }))
    try stage.settle()
  }

  private let both: LEMoreFeatures = [.shorterConnectionIntervals, .shorterConnectionIntervalsHostSupport]

  @Test("The other side's features are read once; then all parameters of the link go by rates")
  func rates() throws {
    let stage = try stage()
    let link = try #require(stage.links.last)
    var results: [BluetoothError?] = []
    link.request(quick) { results.append($0) }
    try stage.settle()
    #expect(asked(stage) == [0x2088])
    #expect(stage.controller.commands.last?.parameters == [0x40, 0, 1])
    try tellFeatures(both, stage)
    #expect(asked(stage) == [0x2088, 0x20A1])
    #expect(
      stage.controller.commands.last?.parameters
        == [0x40, 0, 10, 0, 10, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0x90, 1, 1, 0, 0x7F, 0x3E])
    try tellRate(10, stage)
    #expect(results == [nil] && link.parameters?.interval == .microseconds(1250))
    link.request(slow) { results.append($0) }
    try stage.settle()
    #expect(asked(stage) == [0x2088, 0x20A1, 0x20A1])
    try tellRate(240, stage)
    #expect(results == [nil, nil] && link.parameters?.interval == .milliseconds(30))
  }

  @Test("A refusal is told, and the link gets 7.5 ms")
  func refusal() throws {
    let stage = try stage()
    var results: [BluetoothError?] = []
    stage.links.last?.request(quick) { results.append($0) }
    try stage.settle()
    try tellFeatures(both, stage)
    try tellRate(0, stage, HCIStatus(.unsupportedLMPParameterValue))
    #expect(asked(stage) == [0x2088, 0x20A1, 0x2013] && results.isEmpty)
    try tellUpdate(6, stage)
    #expect(results.map(\.?.code) == [GAPError.notSupported.rawValue])
    #expect(results.first??.message.contains("does not have this interval now") == true)
  }

  @Test("The side that lacks them is named, and the link gets 7.5 ms")
  func lacking() throws {
    let device = "\(HostStage.phone)"
    let cases: [(HostStage, LEMoreFeatures?, String)] = [
      (try stage { $0.refused[0x20A3] = .unknownHCICommand }, nil, "the controller of"),
      (try stage(), .shorterConnectionIntervals, device),
    ]
    for (stage, features, words) in cases {
      var results: [BluetoothError?] = []
      stage.links.last?.request(quick) { results.append($0) }
      try stage.settle()
      if let features { try tellFeatures(features, stage) }
      #expect(stage.controller.commands.last?.opcode == LEConnectionUpdate.opcode)
      #expect(stage.controller.commands.last?.parameters.prefix(6) == [0x40, 0, 6, 0, 6, 0])
      try tellUpdate(6, stage)
      #expect(results.count == 1 && results.first??.name == "notSupported")
      #expect(results.first??.message.hasPrefix(words) == true, "\(results)")
    }
  }

  @Test("A controller that finds out by itself that the other side lacks them is believed")
  func refused() throws {
    let stage = try stage { $0.refused[0x20A1] = .unsupportedRemoteFeature }
    var results: [BluetoothError?] = []
    let wide = ConnectionParameters(interval: .microseconds(1250)...(.milliseconds(10)))
    stage.links.last?.request(wide) { results.append($0) }
    try stage.settle()
    try tellFeatures(both, stage)
    #expect(asked(stage) == [0x2088, 0x20A1, 0x2013])
    #expect(stage.controller.commands.last?.parameters.prefix(6) == [0x40, 0, 6, 0, 8, 0])
    try tellUpdate(8, stage)
    // 10 ms is requested, too.
    #expect(results == [nil])
  }

  @Test("A controller whose shortest interval is longer gets that one, and the error tells it")
  func tooShort() throws {
    let stage = try stage(shortest: 16)
    var results: [BluetoothError?] = []
    stage.links.last?.request(quick) { results.append($0) }
    try stage.settle()
    try tellFeatures(both, stage)
    #expect(stage.controller.commands.last?.parameters.prefix(6) == [0x40, 0, 16, 0, 16, 0])
    try tellRate(16, stage)
    #expect(results.first??.name == "notSupported")
    #expect(results.first??.message.contains("no interval shorter than 2.0 ms") == true, "\(results)")
  }

  @Test func anUpdateThatFollowsDuringTheQuestionCounts() throws {
    let stage = try stage()
    var results: [String] = []
    stage.links.last?.request(quick) { _ in results.append("quick") }
    stage.links.last?.request(slow) { _ in results.append("slow") }
    try stage.settle()
    try tellFeatures(both, stage)
    #expect(asked(stage) == [0x2088, 0x2013])
    try tellUpdate(24, stage)
    #expect(results == ["quick", "slow"])
  }
}
