import Adapter
import Bluetooth
import HCI
import Radio

/// A controller as its set-up found it.
package struct HostController: Hashable {
  /// The capabilities for the radio machines.
  package var profile: ControllerProfile
  /// The maker; nil if the controller did not say.
  package var company: UInt16?
  /// The version of HCI; nil if the controller did not say.
  package var version: UInt8?
  /// The longest accepted ACL data packet, in octets.
  package var dataLength = 27
  /// The number of its ACL data buffers.
  package var dataPackets = 1
  /// Its address, if other controllers have it, too: it is not used.
  package var sharedAddress: DeviceAddress?
  /// True if it sends no more packets than `HostBuffers` has room for.
  package var isSlowable = false
  /// True if it refused the events of later versions.
  package var refusesEvents = false

  package init(profile: ControllerProfile) { self.profile = profile }
}

/// Starts a controller without another host: resets it, reads its address and buffers, examines it by `SetUpMachine`,
/// and unmasks the events.
///
/// | State     | Input                        | Actions                                                   |
/// |-----------|------------------------------|-----------------------------------------------------------|
/// | beginning | the answer to a command      | `send` the next one; after the last: profiling            |
/// | beginning | Reset or the buffers refused | `failed`                                                  |
/// | profiling | the profile                  | `send` the first of the masks: finishing                  |
/// | finishing | the answer to a command      | `send` the next one, after the last `done`                |
/// | any       | no answer in time            | `failed`                                                  |
///
/// Until Reset is executed, responses to an earlier host's commands are ignored. Reset may take 10 s. Later controllers
/// return longer responses; the known part counts.
package struct HostSetUp {
  package enum Action: Hashable {
    case send(CommandPacket)
    case done(HostController)
    case failed(String)
    /// A feature of the controller is not used.
    case warned(String)
  }

  private enum State {
    case beginning([CommandPacket])
    case profiling(SetUpMachine)
    case finishing([CommandPacket])
    case over
  }

  /// Reset (Core 5.4, Vol 4, Part E, 7.3.2).
  package static let reset = CommandPacket(opcode: 0x0C03, parameters: [])
  /// Write LE Host Support (7.3.79): announces to a dual-mode controller that this host uses LE.
  private static let hostSupport = CommandPacket(opcode: 0x0C6D, parameters: [1, 0])
  /// Zephyr's Read Static Addresses (include/zephyr/bluetooth/hci_vs.h): the addresses set by the chip's maker, for
  /// controllers without a public one.
  private static let staticAddresses = CommandPacket(opcode: 0xFC09, parameters: [])
  /// Flow control of ACL data to the host: its buffers, which take any packet, and the switch.
  private static let flowControl = [
    CommandPacket(
      HostBufferSize {
        $0.aclDataPacketLength = UInt16(longestData)
        $0.aclDataPackets = UInt16(HostBuffers.packets)
      }), CommandPacket(SetControllerToHostFlowControl { $0.mode = 1 }),
  ]
  /// Maximum time for Reset; USB dongles load firmware meanwhile.
  private static let resetTimeout = Duration.seconds(10)
  /// The events to unmask (7.3.1): the default ones, renewed keys and LE. The default ones include Number Of Completed
  /// Packets, as they must: some controllers accept no data without it.
  private static let events: UInt64 = 0x1FFF_FFFF_FFFF | 1 << 47 | 1 << 61
  /// The LE events of every controller; controllers of 4.0 refuse other bits.
  private static let oldestEvents: UInt64 = 0x1F

  /// The commands that change settings of the controller.
  private static let settings = SetUpMachine.settings.union([
    hostSupport.opcode, HostBufferSize.opcode, SetControllerToHostFlowControl.opcode,
  ])

  private var state: State
  private var ownSlot = CommandSlot()
  /// The command that `ownSlot` waits for.
  private var sent: CommandPacket?
  /// The commands that changed settings.
  private var settings: [CommandPacket] = []
  private var controller: HostController
  private let others: Set<DeviceAddress>
  private let quirks: QuirkTable
  private let avoidsExtended: Bool

  /// - Parameters:
  ///   - spare: the static random address of a controller that has none.
  ///   - modalias: its name for drivers; empty where the system has none.
  ///   - quirks: where its model is looked up.
  ///   - avoidsExtended: true if it is to be used without extended commands in any case.
  ///   - others: the addresses of the other adapters.
  package init(
    spare: DeviceAddress, modalias: String = "", quirks: QuirkTable = QuirkTable(), avoidsExtended: Bool = false,
    others: Set<DeviceAddress> = []
  ) {
    self.others = others
    self.quirks = quirks
    self.avoidsExtended = avoidsExtended
    controller = HostController(profile: ControllerProfile(address: spare))
    controller.profile.model = QuirkTable.Model(modalias: modalias)
    state = .beginning([
      Self.reset, CommandPacket(ReadLocalVersionInformation()), CommandPacket(ReadBDADDR()),
      CommandPacket(SetEventMask { $0.mask = Self.events }), CommandPacket(LEReadBufferSize()),
    ])
  }

  /// The command in progress.
  package var slot: CommandSlot { if case .profiling(let machine) = state { machine.slot } else { ownSlot } }

  /// When `tick` is due.
  package var deadline: Instant? {
    if case .profiling(let machine) = state { machine.deadline } else { ownSlot.deadline }
  }

  package mutating func start(at now: Instant) -> [Action] { next(at: now) }

  package mutating func handle(_ event: HCIEvent, at now: Instant) -> [Action] {
    if case .profiling(var machine) = state {
      let actions = machine.handle(event, at: now)
      state = .profiling(machine)
      return perform(actions, at: now)
    }
    guard case .ours(let answer) = ownSlot.receive(event, at: now) else {
      return ownSlot.outstanding == nil ? next(at: now) : []
    }
    if answer.status.isSuccess, let sent, Self.settings.contains(answer.opcode) { settings.append(sent) }
    if let fault = note(answer) { return fail(fault) }
    return next(at: now)
  }

  package mutating func tick(at now: Instant) -> [Action] {
    if case .profiling(var machine) = state {
      let actions = machine.tick(at: now)
      state = .profiling(machine)
      return perform(actions, at: now)
    }
    return ownSlot.expire(at: now) == nil ? next(at: now) : fail("it does not respond")
  }

  private mutating func next(at now: Instant) -> [Action] {
    guard ownSlot.isFree else { return [] }
    switch state {
    case .beginning(var packets):
      guard let packet = packets.first else { return profile(at: now) }
      packets.removeFirst()
      state = .beginning(packets)
      return send(packet, at: now)
    case .finishing(var packets):
      guard let packet = packets.first else {
        state = .over
        controller.profile.settings += settings
        return [.done(controller)]
      }
      packets.removeFirst()
      state = .finishing(packets)
      return send(packet, at: now)
    case .profiling, .over: return []
    }
  }

  private mutating func send(_ packet: CommandPacket, at now: Instant) -> [Action] {
    sent = packet
    ownSlot.send(packet, at: now, timeout: packet == Self.reset ? Self.resetTimeout : CommandSlot.timeout)
    return [.send(packet)]
  }

  private mutating func profile(at now: Instant) -> [Action] {
    controller.profile.adopt(quirks)
    // A fault of one extended command is one of all: a controller may disallow the others beside legacy ones.
    if avoidsExtended || !controller.profile.faults.isEmpty { controller.profile.faults = .extendedCommands }
    var machine = SetUpMachine(controller.profile)
    let actions = machine.start(at: now)
    state = .profiling(machine)
    return perform(actions, at: now)
  }

  private mutating func perform(_ actions: [SetUpMachine.Action], at now: Instant) -> [Action] {
    actions.flatMap { action -> [Action] in
      switch action {
      case .send(let packet): return [.send(packet)]
      case .failed(let reason): return fail(reason)
      case .warned(let words): return [.warned(words)]
      case .done(let profile):
        controller.profile = profile
        controller.profile.isExclusive = true
        let rest = [CommandPacket(LESetEventMask { $0.mask = controller.profile.eventMask }), Self.hostSupport]
        state = .finishing(rest + (mayBeSlowed ? Self.flowControl : []))
        return next(at: now)
      }
    }
  }

  /// Takes an answer.
  /// - Returns: why the controller cannot be used.
  private mutating func note(_ answer: CommandSlot.Answer) -> String? {
    guard answer.status.isSuccess else {
      switch answer.opcode {
      case Self.reset.opcode, LEReadBufferSize.opcode, ReadBufferSize.opcode:
        return "it answered command 0x\(String(answer.opcode.rawValue, radix: 16)) with \(answer.status)"
      case ReadBDADDR.opcode: askForStaticAddress()
      case HostBufferSize.opcode: state = .finishing([])
      case LESetEventMask.opcode:
        guard case .finishing(let packets) = state else { return nil }
        let mask = CommandPacket(LESetEventMask { $0.mask = Self.oldestEvents })
        // Once: the refusal of this one changes nothing.
        if !controller.refusesEvents { state = .finishing([mask] + packets) }
        controller.refusesEvents = true
        // The event with the resolved address is among the others.
        controller.profile.resolvingListSize = 0
      default: break
      }
      return nil
    }
    guard let complete = answer.complete else { return nil }
    do throws(HCICodingError) { return try note(complete) } catch {
      return "its response to command 0x\(String(answer.opcode.rawValue, radix: 16)) could not be decoded: \(error)"
    }
  }

  private mutating func note(_ complete: CommandComplete) throws(HCICodingError) -> String? {
    switch complete.opcode {
    case ReadLocalVersionInformation.opcode:
      let version = try complete.decoded(as: ReadLocalVersionInformation.self)
      (controller.company, controller.version) = (version.companyIdentifier, version.hciVersion)
      controller.profile.model.adopt(version)
    case ReadBDADDR.opcode:
      let address = DeviceAddress(value: try complete.decoded(as: ReadBDADDR.self).address, kind: .public)
      guard address.isNoIdentity || others.contains(address) else { adopt(address); break }
      if address.value != 0 { controller.sharedAddress = address }
      askForStaticAddress()
    case Self.staticAddresses.opcode:
      // The status, how many there are, and the first one.
      guard let count = complete.returnParameters.dropFirst().first, count > 0,
        let address = DeviceAddress(littleEndian: complete.returnParameters.dropFirst(2).prefix(6), kind: .random),
        address.isStaticRandom
      else { return nil }
      adopt(address)
    case LEReadBufferSize.opcode:
      let own = try complete.decoded(as: LEReadBufferSize.self)
      guard own.aclDataPacketLength > 0, own.aclDataPackets > 0 else {
        if case .beginning(let packets) = state { state = .beginning(packets + [CommandPacket(ReadBufferSize())]) }
        return nil
      }
      return buffers(Int(own.aclDataPacketLength), Int(own.aclDataPackets))
    case ReadBufferSize.opcode:
      let shared = try complete.decoded(as: ReadBufferSize.self)
      return buffers(Int(shared.aclDataPacketLength), Int(shared.aclDataPackets))
    case SetControllerToHostFlowControl.opcode: controller.isSlowable = true
    default: break
    }
    return nil
  }

  private func has(_ quirk: Quirk) -> Bool { quirks.quirks(of: controller.profile.model).contains(quirk) }

  private var mayBeSlowed: Bool {
    has(.flowControl) && controller.profile.commands != nil && controller.profile.has(octet: 10, bits: 0xE0)
  }

  private mutating func askForStaticAddress() {
    guard case .beginning(let packets) = state, has(.staticAddresses) else { return }
    state = .beginning([Self.staticAddresses] + packets)
  }

  private mutating func adopt(_ address: DeviceAddress) {
    let model = controller.profile.model
    controller.profile = ControllerProfile(address: address)
    controller.profile.model = model
  }

  /// The kernel's user channel takes no packet of more than 1028 octets, with its headers.
  private static let longestData = 1023

  /// More packets than controllers have room for. On the user channel the kernel keeps a report about each of them, and
  /// drops those beyond its 208 KiB.
  private static let mostPackets = 128

  private mutating func buffers(_ length: Int, _ packets: Int) -> String? {
    guard length >= 27, packets > 0 else { return "it has no buffers for data" }
    (controller.dataLength, controller.dataPackets) = (min(length, Self.longestData), min(packets, Self.mostPackets))
    return nil
  }

  private mutating func fail(_ reason: String) -> [Action] {
    state = .over
    return [.failed(reason)]
  }
}
