import Adapter
import Bluetooth
import HCI
import Testing

@testable import Radio

/// Plays the controller to the machines of a radio: their packets and reports are compared, the controller's are
/// written, as octets in hex. Blanks do not count.
struct RadioScript<Family: RadioFamily> {
  private var machine: any RadioMachine
  var now = Instant.zero
  private var sent: [String] = []
  /// The opcodes of all commands so far.
  private(set) var opcodes: [Opcode] = []
  /// The handles of all extended advertising sets that were enabled.
  private(set) var enabledSets: Set<UInt8> = []
  /// True if the last command for it switched an extended scan on.
  private(set) var isScanning = false
  private(set) var told: [RadioAction] = []
  private var heard: [AdvertisingReport] = []

  /// Any machine; the family does not matter then.
  init(_ machine: any RadioMachine) { self.machine = machine }

  /// A controller with these numbers of advertising sets and places in its accept list and its list of monitored
  /// advertisers, that combines these states.
  /// - Parameter onAir: the private address that it uses.
  init(
    sets: Int = 1, acceptList: Int = 8, monitoredList: Int = 0, states: LEStates? = nil,
    address: DeviceAddress = DeviceAddress(value: 0x00AA_0100_0000, kind: .public), features: LEFeatures = [],
    advertisingDataLength: Int = 1650, isExclusive: Bool = false, targets: RadioTargets = RadioTargets(),
    onAir: DeviceAddress? = nil
  ) {
    var profile = ControllerProfile(address: address).seen(under: onAir ?? address)
    profile.advertisingSets = sets
    profile.acceptListSize = acceptList
    profile.monitoredListSize = monitoredList
    profile.states = states
    profile.features = features
    profile.isExclusive = isExclusive
    if Family.reportsEndOfAdvertising { profile.features.insert(.extendedAdvertising) }
    profile.advertisingDataLength = advertisingDataLength
    machine = FamilyRadioMachine<Family, Family, Family>(profile: profile, targets: targets)
  }

  /// Gives an input.
  mutating func give(_ input: RadioInput) {
    for action in machine.handle(input, at: now) {
      switch action {
      case .send(let packet):
        opcodes.append(packet.opcode)
        if packet.opcode == LESetExtendedAdvertisingEnable.opcode,
          let enable = try? LESetExtendedAdvertisingEnable(decoding: packet), enable.isEnabled
        {
          enabledSets.formUnion(enable.sets.map(\.advertisingHandle))
        }
        if packet.opcode == LESetExtendedScanEnable.opcode {
          isScanning = (try? LESetExtendedScanEnable(decoding: packet).isEnabled) ?? isScanning
        }
        sent.append(Hex.encode(HCIPacket.command(packet).octets.dropFirst()))
      case .log: break
      default: told.append(action)
      }
    }
  }

  /// The controller says this event (without the packet type).
  mutating func hear(_ hex: String) throws {
    let octets = try #require(Hex.decode("04" + hex.filter { $0 != " " }))
    if let reports = try AdvertisingReports(decoding: octets) {
      heard += machine.received(reports, at: now)
      if machine.hasHeardAbsentDevice { give(.tick) }
      return
    }
    guard case .event(let packet) = try HCIPacket(decoding: octets) else { return }
    give(.event(try HCIEvent(decoding: packet)))
  }

  /// The next command was this one (opcode, length, parameters); the controller answers it with Command Complete.
  mutating func command(
    _ hex: String, status: UInt8 = 0, returns: String = "", location: SourceLocation = #_sourceLocation
  ) throws {
    try expectSent(hex, location)
    let parameters = Hex.encode([status]) + returns
    try hear("0e \(Hex.encode([UInt8(3 + parameters.count / 2)])) 01 \(hex.prefix(4)) \(parameters)")
  }

  /// The next command was this one; the controller answers it with Command Status.
  mutating func started(_ hex: String, status: UInt8 = 0, location: SourceLocation = #_sourceLocation) throws {
    try expectSent(hex, location)
    try hear("0f 04 \(Hex.encode([status])) 01 \(hex.prefix(4))")
  }

  /// The next command was this one, and gets no answer.
  mutating func unanswered(_ hex: String, location: SourceLocation = #_sourceLocation) throws {
    try expectSent(hex, location)
  }

  /// No command was sent.
  func silent(location: SourceLocation = #_sourceLocation) {
    #expect(sent.isEmpty, sourceLocation: location)
  }

  /// These actions were reported since the last call, and no others.
  mutating func expectTold(_ actions: RadioAction..., location: SourceLocation = #_sourceLocation) {
    #expect(told == actions, sourceLocation: location)
    told = []
  }

  /// These advertisements and scan responses were received since the last call, and no others.
  mutating func expectHeard(_ reports: AdvertisingReport..., location: SourceLocation = #_sourceLocation) {
    #expect(heard == reports, sourceLocation: location)
    heard = []
  }

  /// The actions since the last call.
  mutating func takeTold() -> [RadioAction] {
    defer { told = [] }
    return told
  }

  /// True if a command waits for its answer.
  var isAsked: Bool { !sent.isEmpty }

  /// The next command, whatever it is, is answered with success.
  mutating func answer(location: SourceLocation = #_sourceLocation) throws {
    try command(try #require(sent.first, "nothing was sent", sourceLocation: location), returns: "00")
  }

  /// The next command, whatever it is, is refused.
  mutating func refuse(_ status: UInt8, location: SourceLocation = #_sourceLocation) throws {
    try command(try #require(sent.first, "nothing was sent", sourceLocation: location), status: status)
  }

  /// A pending legacy connection is cancelled, which the controller does.
  mutating func connectIsCancelled() throws {
    try command("0e20 00")
    try hear("3e 13 01 02 0000 00 01 000000000000 0000 0000 0000 00")
  }

  /// Time passes; the deadlines on the way are kept.
  mutating func wait(_ duration: Duration) {
    let end = now.advanced(by: duration)
    while let next = machine.deadline(after: now), next <= end {
      now = max(next, now)
      give(.tick)
    }
    now = end
  }

  private mutating func expectSent(_ hex: String, _ location: SourceLocation) throws {
    let first = try #require(sent.first, "nothing was sent", sourceLocation: location)
    #expect(first == hex.filter { $0 != " " }, sourceLocation: location)
    sent.removeFirst()
  }
}
