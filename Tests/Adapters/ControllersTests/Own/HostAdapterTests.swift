import Adapter
import Bluetooth
import HCI
import Testing

@testable import Host
@testable import Controllers

/// An adapter over a scripted controller.
@Suite struct HostAdapterTests {
  private let wanted = ConnectionParameters(
    interval: .milliseconds(30)...(.milliseconds(50)), latency: 2, supervisionTimeout: .seconds(4))
  /// The parameters in a request of L2CAP, behind the header of its frame.
  private let request: [UInt8] = [0x12, 1, 8, 0, 24, 0, 40, 0, 2, 0, 0x90, 0x01]

  private func connected(_ stage: HostStage) throws -> any Link {
    try stage.controller.tell(HostStage.connected(0x40))
    try stage.settle()
    return try #require(stage.links.last)
  }

  @Test func aLinkThatEndsBeforeItWasToldEndsAfterwards() throws {
    let stage = try HostStage()
    #expect(stage.adapter.state == .on)
    try stage.controller.tell(HostStage.connected(0x40), HostStage.disconnected(0x40))
    try stage.settle()
    #expect(stage.links.count == 1)
    #expect(stage.ends.map(\.code) == [0x13])
  }

  @Test func aLinkWhoseDeviceAcknowledgesNothingIsDisconnected() throws {
    let stage = try HostStage()
    let link = try connected(stage)
    link.send([0x1B, 1, 0, 7])
    try stage.wait(.milliseconds(39_999))
    #expect(stage.controller.data.count == 1)
    #expect(stage.controller.commands.last?.opcode != 0x0406)
    try stage.wait(.milliseconds(1))
    #expect(stage.controller.commands.last?.opcode == 0x0406)
    try stage.controller.tell(HostStage.disconnected(0x40))
    try stage.settle()
    #expect(stage.ends.map(\.code) == [0x16])
  }

  // MARK: - Parameters

  @Test func aDevicesControllerGetsTheParametersThatItAsksFor() throws {
    let stage = try HostStage()
    _ = try connected(stage)
    func ask(_ interval: UInt16) throws -> CommandPacket? {
      try stage.controller.tell(
        .leRemoteConnectionParameterRequest(
          LERemoteConnectionParameterRequest {
            $0.handle = 0x40
            ($0.intervalMin, $0.intervalMax) = (interval, 40)
            ($0.latency, $0.supervisionTimeout) = (2, 400)
          }))
      try stage.settle()
      return stage.controller.commands.last
    }
    let reply = try ask(24)
    #expect(reply?.opcode == 0x2020)
    #expect(reply?.parameters == [0x40, 0, 24, 0, 40, 0, 2, 0, 0x90, 0x01, 0, 0, 0, 0])
    // The least is above the most: Unacceptable Connection Parameters.
    let refusal = try ask(41)
    #expect(refusal?.opcode == 0x2021)
    #expect(refusal?.parameters == [0x40, 0, 0x3B])
  }

  @Test(arguments: [HCIErrorCode.unsupportedRemoteFeature, .unsupportedLMPParameterValue, .invalidLMPParameters])
  func theDevicesHostIsAskedWhereTheControllersCannotNegotiate(_ refusal: HCIErrorCode) throws {
    let stage = try HostStage { $0.refused[0x2013] = refusal }
    let link = try connected(stage)
    var results: [BluetoothError?] = []
    link.request(wanted) { results.append($0) }
    try stage.settle()
    #expect(stage.controller.data.map(\.data) == [([12, 0, 5, 0] + request)[...]])
    try stage.controller.send([
      .acl(
        ACLDataPacket {
          $0.handle = 0x40
          $0.boundary = 2
          $0.data = [6, 0, 5, 0, 0x13, 1, 2, 0, 0, 0]
        })
    ])
    try stage.settle()
    #expect(results == [nil])
  }

  @Test func theDevicesHostIsNotAskedForOtherReasons() throws {
    let stage = try HostStage { $0.refused[0x2013] = .unacceptableConnectionParameters }
    let link = try connected(stage)
    var results: [BluetoothError?] = []
    link.request(wanted) { results.append($0) }
    try stage.settle()
    #expect(results.count == 1 && results.first != .some(nil))
    // The interval is as requested, and subrating is lacking: no host can provide that.
    stage.controller.refused = [:]
    var subrated = wanted
    subrated.subrate = 2...2
    link.request(subrated) { results.append($0) }
    try stage.settle()
    #expect(results.count == 2 && results.last != .some(nil))
    #expect(stage.controller.data.isEmpty)
  }

  // MARK: - Private addresses

  @Test func scanAndAdvertisingGoOnUnderAnotherAddressAndNobodyIsTold() throws {
    let stage = try HostStage(privacy: .seconds(900))
    func addresses() throws -> [DeviceAddress] {
      try stage.controller.commands.filter { $0.opcode == 0x2005 }.map {
        DeviceAddress(value: try LESetRandomAddress(decoding: $0).address, kind: .random)
      }
    }
    let first = try #require(stage.adapter.information.privateAddress)
    #expect(first.isResolvablePrivate)
    #expect(try addresses() == [first])
    #expect(stage.adapter.information.address == DeviceAddress(value: 0x0605_0403_0201, kind: .public))
    stage.adapter.setScan(ScanParameters())
    try stage.settle()
    let link = try connected(stage)
    let told = stage.events.count { if case .scanning = $0 { true } else { false } }
    #expect(told == 1)

    // A scan that receives nothing restarts each minute or so, and the controller has to answer that.
    for _ in 1...15 { try stage.wait(.seconds(60)) }
    let second = try #require(stage.adapter.information.privateAddress)
    #expect(second != first && second.isResolvablePrivate)
    #expect(try addresses() == [first, second])
    // The address was changed while nothing went on.
    let opcodes = stage.controller.commands.map(\.opcode.rawValue)
    let change = try #require(opcodes.lastIndex(of: 0x2005))
    let enables = stage.controller.commands.indices.filter { opcodes[$0] == 0x200C }
    #expect(enables.contains { $0 < change && stage.controller.commands[$0].parameters.first == 0 })
    #expect(enables.contains { $0 > change && stage.controller.commands[$0].parameters.first == 1 })
    #expect(stage.events.count { if case .scanning = $0 { true } else { false } } == told)
    #expect(stage.ends.isEmpty)
    _ = link
    // A controller that returns has another one.
    stage.controller.hangUp()
    try stage.settle()
    try stage.wait(.milliseconds(250))
    #expect(stage.adapter.state == .on)
    #expect(stage.adapter.information.privateAddress != second)
  }

  @Test func theLastAddressStaysWhereTheControllerRefusesAnother() throws {
    let stage = try HostStage(privacy: .seconds(10))
    let first = stage.adapter.information.privateAddress
    stage.controller.refused[0x2005] = .commandDisallowed
    try stage.wait(.seconds(10))
    #expect(stage.adapter.information.privateAddress == first)
    stage.controller.refused = [:]
    try stage.wait(.seconds(59))
    #expect(stage.adapter.information.privateAddress == first)
    try stage.wait(.seconds(1))
    #expect(stage.adapter.information.privateAddress != first)
  }

  // MARK: - The transport

  @Test func aControllerThatComesAndGoesIsLookedForMoreAndMoreSeldom() throws {
    let stage = try HostStage()
    for delay in [Duration.milliseconds(250), .milliseconds(500), .seconds(1)] {
      let before = stage.controller.connections
      stage.controller.hangUp()
      try stage.settle()
      #expect(stage.adapter.state == .absent)
      #expect(stage.adapter.information.absence?.message.contains("is gone: its connection was closed") == true)
      try stage.wait(delay - .milliseconds(1))
      #expect(stage.controller.connections == before)
      try stage.wait(.milliseconds(1))
      #expect(stage.adapter.state == .on && stage.adapter.information.absence == nil)
    }
    // A controller that has worked for a while is searched for at once.
    try stage.wait(.seconds(10))
    stage.controller.hangUp()
    try stage.settle()
    try stage.wait(.milliseconds(250))
    #expect(stage.adapter.state == .on)
  }

  @Test("a controller that is switched off is reset: nothing tells it that its transport is closed")
  func aControllerThatIsSwitchedOff() throws {
    let stage = try HostStage()
    stage.controller.unanswered = [HostSetUp.reset.opcode.rawValue]
    let before = stage.controller.commands.count
    stage.adapter.setPower(false) { _ in }
    try stage.settle()
    #expect(stage.controller.commands.dropFirst(before).map(\.opcode) == [HostSetUp.reset.opcode])
    #expect(stage.adapter.state == .off)
    #expect(stage.controller.hasHost, "a serial line that is closed at once drops the command")
    stage.scheduler.advance(by: .seconds(1))
    try stage.settle()
    #expect(!stage.controller.hasHost)
  }

  @Test("the devices of an adapter that is switched off are told, before the controller is reset")
  func linksOfAnAdapterThatIsSwitchedOff() throws {
    let stage = try HostStage()
    _ = try connected(stage)
    let before = stage.controller.commands.count
    stage.adapter.setPower(false) { _ in }
    try stage.settle()
    // Remote Device Terminated Connection due to Power Off.
    let disconnect = CommandPacket(opcode: 0x0406, parameters: [0x40, 0, 0x15])
    #expect(stage.controller.commands.dropFirst(before) == [disconnect])
    #expect(stage.adapter.state == .off && stage.ends.count == 1 && stage.controller.hasHost)
    // A controller that is switched on again at once waits for that.
    let connections = stage.controller.connections
    stage.adapter.setPower(true) { _ in }
    try stage.settle()
    #expect(stage.adapter.state == .starting && stage.controller.connections == connections)
    try stage.controller.tell(HostStage.disconnected(0x40))
    try stage.settle()
    #expect(stage.controller.commands.dropFirst(before + 1).first?.opcode == HostSetUp.reset.opcode)
    #expect(stage.adapter.state == .on && stage.controller.connections == connections + 1)
  }

  @Test("an adapter that is switched off, on and off again has no transport")
  func switchedOffAgain() throws {
    let stage = try HostStage()
    _ = try connected(stage)
    for on in [false, true, false] {
      stage.adapter.setPower(on) { _ in }
      try stage.settle()
    }
    let connections = stage.controller.connections
    try stage.wait(.seconds(2))
    try stage.wait(.seconds(1))
    #expect(stage.adapter.state == .off && stage.controller.connections == connections && !stage.controller.hasHost)
  }

  @Test("bled ends without a delay when its adapter is switched off while it stops")
  func powerOffAfterStop() throws {
    let stage = try HostStage()
    _ = try connected(stage)
    var stops = 0
    stage.adapter.setPower(false) { _ in }
    stage.adapter.stop { stops += 1 }
    try stage.settle()
    #expect(stops == 0)
    try stage.controller.tell(HostStage.disconnected(0x40))
    try stage.settle()
    #expect(stops == 1 && stage.controller.commands.last == HostSetUp.reset && !stage.controller.hasHost)
    try stage.wait(.seconds(10))
    #expect(stops == 1)
  }

  @Test("a transport that ends while its controller is left is opened if that is wanted", arguments: [false, true])
  func aTransportThatEndsWhileItIsLeft(isWanted: Bool) throws {
    let stage = try HostStage()
    _ = try connected(stage)
    stage.adapter.setPower(false) { _ in }
    if isWanted { stage.adapter.setPower(true) { _ in } }
    try stage.settle()
    let connections = stage.controller.connections
    stage.controller.hangUp()
    try stage.settle()
    #expect(stage.adapter.state == (isWanted ? .on : .off))
    try stage.wait(.seconds(10))
    #expect(stage.controller.connections == connections + (isWanted ? 1 : 0))
  }

  @Test("a capture has the end of all links before the adapter has no power")
  func captureOfPowerOff() throws {
    let stage = try HostStage()
    _ = try connected(stage)
    var kinds: [MonitorPacket.Kind] = []
    let tap = try stage.adapter.tap { event in if case .packet(let packet, _) = event { kinds.append(packet.kind) } }
    try stage.settle()
    stage.adapter.setPower(false) { _ in }
    try stage.settle()
    try stage.controller.tell(HostStage.disconnected(0x40))
    try stage.settle()
    // Disconnect and its answer, the end of the link, Reset and its answer.
    #expect(kinds.suffix(6) == [.command, .event, .event, .command, .event, .closeIndex])
    tap.close()
  }

  @Test("a capture that begins later has the link's device")
  func captureOfLink() throws {
    let stage = try HostStage()
    let link = try connected(stage)
    var events: [MonitorPacket] = []
    let tap = try stage.adapter.tap { event in if case .packet(let packet, _) = event { events.append(packet) } }
    try stage.settle()
    let connection = try #require(events.last)
    #expect(connection.kind == .event)
    let parameters = EventPacket(code: connection.octets[0], parameters: Array(connection.octets.dropFirst(2)))
    guard case .leConnectionComplete(let event) = try HCIEvent(decoding: parameters) else {
      Issue.record("no link in \(events)")
      return
    }
    #expect(event.handle == 0x40 && event.role == 1 && event.peer.device == link.peer && event.interval == 24)
    tap.close()
  }

  @Test("bled ends without a delay when its adapter has no link and does nothing")
  func stopWhenIdle() throws {
    let stage = try HostStage()
    var stops = 0
    stage.adapter.stop { stops += 1 }
    try stage.settle()
    #expect(stops == 1 && !stage.controller.hasHost)
    try stage.wait(.seconds(10))
    #expect(stops == 1)
  }

  @Test("bled ends when the controller of an adapter that was just switched off is reset")
  func stopAfterPowerOff() throws {
    let stage = try HostStage()
    _ = try connected(stage)
    stage.adapter.setPower(false) { _ in }
    stage.adapter.setPower(true) { _ in }
    var hasStopped = false
    try stage.settle()
    stage.adapter.stop { hasStopped = true }
    try stage.settle()
    #expect(!hasStopped)
    let connections = stage.controller.connections
    try stage.wait(.seconds(2))
    #expect(hasStopped && stage.controller.commands.last == HostSetUp.reset)
    #expect(!stage.controller.hasHost && stage.controller.connections == connections)
  }

  @Test func aControllerThatIsSwitchedOnAgainAtOnce() throws {
    let stage = try HostStage()
    for on in [false, true] {
      stage.adapter.setPower(on) { _ in }
      try stage.settle()
    }
    #expect(stage.adapter.state == .on)
    stage.scheduler.advance(by: .seconds(1))
    try stage.settle()
    #expect(stage.adapter.state == .on && stage.controller.hasHost, "only the earlier transport was closed")
  }

  @Test func aCaptureHasOnlyWhatWasSent() throws {
    let stage = try HostStage()
    var sent = 0
    let tap = try stage.adapter.tap { event in
      if case .packet(let packet, _) = event, packet.kind == .sentACL { sent += 1 }
    }
    try stage.settle()
    _ = try connected(stage)
    try stage.controller.tell(HostStage.connected(0x41))
    try stage.settle()
    #expect(stage.links.count == 2)
    // The end of one link leaves buffers for the packets of the other.
    for link in stage.links { for number in 0..<10 { link.send([0x1B, 1, 0, UInt8(number)]) } }
    try stage.settle()
    #expect(sent == 3 && stage.controller.data.count == 3, "as many as the controller buffers")
    stage.controller.hangUp()
    try stage.settle()
    #expect(stage.adapter.state == .absent && sent == 3)
    tap.close()
  }
}
