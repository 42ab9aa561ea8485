import Adapter
import Bluetooth
import HCI
import Testing

@testable import Controllers

/// Requests for another PHY and other parameters, on a link as peripheral of a scripted controller.
@Suite struct HostLinkRequestTests {
  private static let handle: ConnectionHandle = 0x40

  /// A stage with a controller that has LE 2M and LE Coded.
  private func stage(_ change: (ScriptedController) -> Void = { _ in }) throws -> HostStage {
    let stage = try HostStage {
      $0.returned[0x2003] = [0, 0x09, 0, 0, 0, 0, 0, 0]
      $0.returned[0x1002] = [UInt8](repeating: 0, count: 35) + [0x50] + [UInt8](repeating: 0, count: 28)
      $0.returned[0x2030] = [0x40, 0, 1, 1]
      $0.started.formUnion([0x2032])
      change($0)
    }
    try stage.controller.tell(HostStage.connected(Self.handle))
    try stage.settle()
    return stage
  }

  /// The PHYs of each LE Set PHY so far.
  private func masks(_ stage: HostStage) throws -> [[UInt8]] {
    try stage.controller.commands.filter { $0.opcode == LESetPHY.opcode }.map {
      let command = try LESetPHY(decoding: $0)
      return [command.txPHYs, command.rxPHYs]
    }
  }

  private func tellPHY(_ phy: UInt8, _ stage: HostStage, _ status: HCIStatus = .success) throws {
    try stage.controller.tell(
      .lePHYUpdateComplete(
        LEPHYUpdateComplete { ($0.status, $0.handle, $0.tx, $0.rx) = (status, Self.handle, phy, phy) }))
    try stage.settle()
  }

  private func tellUpdate(_ interval: UInt16, _ stage: HostStage, _ status: HCIStatus = .success) throws {
    try stage.controller.tell(
      .leConnectionUpdateComplete(
        LEConnectionUpdateComplete {
          ($0.status, $0.handle, $0.interval, $0.supervisionTimeout) = (status, Self.handle, interval, 400)
        }))
    try stage.settle()
  }

  @Test("A link that was switched to 2M leaves the device 1M (radio F3)")
  func otherPHYs() throws {
    let stage = try stage()
    let link = try #require(stage.links.last)
    var results: [BluetoothError?] = []
    link.request(LinkPHY(.le2M)) { results.append($0) }
    try stage.settle()
    #expect(try masks(stage) == [[2, 2]])
    try tellPHY(2, stage)
    #expect(results == [nil], "the call is answered by the PHY in force")
    #expect(try masks(stage) == [[2, 2], [3, 3]])
    try tellPHY(2, stage)
    // The device chooses 1M.
    try tellPHY(1, stage)
    #expect(try masks(stage).count == 2 && link.layer.txPHY == .le1M)
  }

  @Test("A controller that leaves 2M as soon as it may is kept there")
  func eagerController() throws {
    let stage = try stage()
    let link = try #require(stage.links.last)
    link.request(LinkPHY(.le2M)) { _ in }
    try stage.settle()
    try tellPHY(2, stage)
    try tellPHY(1, stage)
    #expect(try masks(stage) == [[2, 2], [3, 3], [2, 2]])
    try tellPHY(2, stage)
    #expect(try masks(stage).count == 3 && link.layer.txPHY == .le2M)
  }

  @Test(
    "A PHY that a program chose, or one that the device does not use, is asked for once", arguments: [1, 3] as [UInt8])
  func chosenPHY(_ phy: UInt8) throws {
    let stage = try stage()
    var results: [BluetoothError?] = []
    let wanted = LinkPHY(try #require(PHY(rawValue: phy)))
    for answer in [phy, 2] {
      stage.links.last?.request(wanted) { results.append($0) }
      try stage.settle()
      try tellPHY(answer, stage)
    }
    #expect(try masks(stage).count == 2)
    #expect(results.count == 2 && results.first == BluetoothError?.none && results.last??.name == "notSupported")
  }

  @Test("The event of one update does not settle the request that follows it (radio F4)")
  func oneEventOneRequest() throws {
    let stage = try stage()
    let link = try #require(stage.links.last)
    var results: [BluetoothError?] = []
    let wanted = ConnectionParameters(interval: .microseconds(7500)...(.microseconds(7500)))
    // As a session's request does, against the device's request.
    link.onEvent = { event in
      guard case .parametersChanged = event, link.parameters?.interval != .microseconds(7500) else { return }
      link.request(wanted) { results.append($0) }
    }
    try tellUpdate(40, stage)
    #expect(stage.controller.commands.count { $0.opcode == LEConnectionUpdate.opcode } == 1)
    #expect(results.isEmpty, "the controller has not answered yet")
    try tellUpdate(6, stage)
    #expect(results == [nil])
    #expect(stage.controller.commands.count { $0.opcode == LEConnectionUpdate.opcode } == 1)
  }
}
