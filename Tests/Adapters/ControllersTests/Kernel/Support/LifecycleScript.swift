import Adapter
import Bluetooth
import HCI
import Testing

@testable import Controllers

/// Plays the kernel to the machine that brings a controller into use.
struct LifecycleScript {
  var machine: LifecycleMachine
  var now = Instant.zero
  private(set) var told: [LifecycleMachine.Action] = []
  private var sent: [ManagementPacket] = []

  init(_ selector: AdapterSelector, acceptsPairing: Bool = true) {
    machine = LifecycleMachine(selector: selector, spareAddress: 0xC011_2233_4455)
    machine.pairing.acceptsDevices = acceptsPairing
    give(.start)
    give(.managementOpened)
  }

  mutating func give(_ input: LifecycleMachine.Input) {
    for action in machine.handle(input, at: now) {
      if case .send(let packet) = action { sent.append(packet) } else { told.append(action) }
    }
  }

  /// The next command was this one; the kernel answers.
  mutating func command(
    _ hex: String, status: UInt8 = 0, returns: [UInt8] = [], location: SourceLocation = #_sourceLocation
  ) throws {
    let packet = try take(hex, location: location)
    let event = ManagementCommandComplete {
      $0.opcode = packet.code
      $0.status = ManagementStatus(rawValue: status)
      $0.returnParameters = returns
    }
    give(.packet(ManagementPacket(event: event, index: packet.index)))
  }

  /// The next command was this one; the kernel does not answer.
  @discardableResult
  mutating func take(_ hex: String, location: SourceLocation = #_sourceLocation) throws -> ManagementPacket {
    let packet = try #require(sent.first, "nothing was sent", sourceLocation: location)
    sent.removeFirst()
    #expect(Hex.encode(packet.octets) == hex.filter { $0 != " " }, sourceLocation: location)
    return packet
  }

  mutating func event(_ code: UInt16, _ hex: String = "", index: UInt16 = 0) throws {
    let parameters = try #require(Hex.decode(hex))
    give(.packet(ManagementPacket(code: code, index: ControllerIndex(rawValue: index), parameters: parameters)))
  }

  func silent(location: SourceLocation = #_sourceLocation) { #expect(sent.isEmpty, sourceLocation: location) }

  /// The states reported since the last call.
  mutating func states() -> [AdapterState] {
    defer { told = [] }
    return told.compactMap { if case .state(let state) = $0 { state } else { nil } }
  }

  /// The actions since the last call.
  mutating func take() -> [LifecycleMachine.Action] {
    defer { told = [] }
    return told
  }

  mutating func wait(_ duration: Duration) {
    let end = now.advanced(by: duration)
    while let next = machine.deadline, next <= end {
      now = next
      give(.tick)
    }
    now = end
  }

  /// The kernel has these controllers, and describes the first.
  mutating func find(address: UInt64 = 0x00AA_0100_0000, current: ManagementSettings = []) throws {
    try command("0300 ffff 0000", returns: [1, 0, 0, 0])
    try describe(address: address, current: current)
  }

  mutating func describe(index: String = "0000", address: UInt64, current: ManagementSettings = []) throws {
    let information = ControllerInformation {
      $0.address = address
      $0.supported = [.powered, .lowEnergy, .secureConnections, .bondable]
      $0.current = current
    }
    try command("0400 \(index) 0000", returns: information.octets)
  }

  /// Nothing of another program is left in the kernel.
  mutating func leftoversRemoved(location: SourceLocation = #_sourceLocation) throws {
    try command("3400 0000 0700 000000000000 00", location: location)
    // Invalid Parameters: there was no advertisement.
    try command("3f00 0000 0100 00", status: 0x0D, location: location)
    try command("1300 0000 0200 0000", location: location)
    try command("3000 0000 0200 0000", location: location)
  }

  /// The kernel has a controller that is on, set up and free, with these settings as well.
  mutating func findReady(address: UInt64 = 0x00AA_0100_0000, with settings: ManagementSettings = []) throws {
    let ready: ManagementSettings = [.powered, .lowEnergy, .secureConnections, .bondable]
    try find(address: address, current: ready.union(settings))
    give(.rival(nil))
    try leftoversRemoved()
  }

  /// The whole way to `on` of a controller that is off.
  mutating func bringUp() throws {
    try find()
    give(.rival(nil))
    try leftoversRemoved()
    try command("0d00 0000 0100 01")
    try command("2d00 0000 0100 01")
    try command("1800 0000 0100 03")
    try command("0900 0000 0100 01")
    try command("0500 0000 0100 01")
    give(.radioOpened)
  }
}
