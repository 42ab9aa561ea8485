import Adapter
import Bluetooth
import HCI
import Testing

@testable import Host
@testable import HostAdapter

/// The private addresses of an adapter over a scripted controller that refuses commands or does not answer them.
@Suite struct HostAddressTests {
  /// LE Set Random Address.
  private let setAddress: UInt16 = 0x2005

  private func addresses(_ stage: HostStage) throws -> [DeviceAddress] {
    try stage.controller.commands.filter { $0.opcode.rawValue == setAddress }.map {
      DeviceAddress(value: try LESetRandomAddress(decoding: $0).address, kind: .random)
    }
  }

  private func isFailed(_ stage: HostStage) -> Bool {
    if case .failed = stage.adapter.state { true } else { false }
  }

  @Test func anAdapterIsOnOnlyOnceTheControllerHasItsFirstAddress() throws {
    let stage = try HostStage(privacy: .seconds(900)) { $0.refused[0x2005] = .commandDisallowed }
    #expect(isFailed(stage))
    #expect(stage.adapter.information.privateAddress == nil)
    #expect(try addresses(stage).count == 1)

    stage.controller.refused = [:]
    stage.controller.unanswered = [setAddress]
    try stage.wait(.milliseconds(250))
    #expect(stage.adapter.state == .starting)
    try stage.wait(.seconds(5))
    #expect(isFailed(stage))

    stage.controller.unanswered = []
    try stage.wait(.milliseconds(500))
    #expect(stage.adapter.state == .on)
    #expect(stage.adapter.information.privateAddress == (try addresses(stage).last))
  }

  @Test func aControllerThatIsGoneBeforeItHasItsFirstAddressIsAbsent() throws {
    let stage = try HostStage(privacy: .seconds(900)) { $0.unanswered = [0x2005] }
    #expect(stage.adapter.state == .starting)
    stage.controller.hangUp()
    try stage.settle()
    #expect(stage.adapter.state == .absent)
  }

  @Test func theLastAddressIsSetAgainWhereTheAnswerToAnotherIsLost() throws {
    let stage = try HostStage(privacy: .seconds(10))
    let first = try #require(stage.adapter.information.privateAddress)
    stage.controller.unanswered = [setAddress]
    try stage.wait(.seconds(10))
    let other = try #require(try addresses(stage).last)
    #expect(other != first)
    stage.controller.unanswered = []
    try stage.wait(.seconds(5))
    #expect(try addresses(stage) == [first, other, first])
    #expect(stage.adapter.state == .on && stage.adapter.information.privateAddress == first)
    try stage.wait(.seconds(60))
    #expect(stage.adapter.information.privateAddress != first)
  }

  @Test func aControllerWhoseAddressIsUnknownDoesNotWork() throws {
    let stage = try HostStage(privacy: .seconds(10))
    stage.controller.unanswered = [setAddress]
    try stage.wait(.seconds(10))
    try stage.wait(.seconds(5))
    #expect(stage.adapter.state == .on)
    try stage.wait(.seconds(5))
    #expect(isFailed(stage))
  }
}
