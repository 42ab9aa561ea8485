import Adapter
import Bluetooth
import HCI
import Testing

@testable import Radio

struct SetUpMachineTests {
  private static let features = LEReadLocalSupportedFeatures.opcode
  private static let commands = ReadLocalSupportedCommands.opcode
  private static let states = LEReadSupportedStates.opcode
  private static let listSize = LEReadFilterAcceptListSize.opcode
  private static let dataLength = LEReadMaximumAdvertisingDataLength.opcode
  private static let sets = LEReadNumberOfSupportedAdvertisingSets.opcode
  private static let disable = LESetExtendedAdvertisingEnable.opcode
  private static let clear: Opcode = 0x203D

  /// Examines a controller with these answers, status first; it refuses all other commands.
  /// - Returns: the commands, and their result.
  private func ask(
    _ answers: [Opcode: [UInt8]], kind: DeviceAddress.Kind = .public, faults: ControllerFaults = []
  ) -> (questions: [Opcode], outcome: SetUpMachine.Action?) {
    var machine = SetUpMachine(address: DeviceAddress(value: 0xC011_2233_4455, kind: kind), faults: faults)
    var questions: [Opcode] = []
    var actions = machine.start(at: .zero)
    while case .send(let packet)? = actions.first {
      questions.append(packet.opcode)
      let complete = CommandComplete {
        $0.opcode = packet.opcode
        $0.returnParameters = answers[packet.opcode] ?? [0x01]
      }
      actions = machine.handle(.commandComplete(complete), at: .zero)
    }
    return (questions, actions.first)
  }

  private func learned(
    _ answers: [Opcode: [UInt8]], kind: DeviceAddress.Kind = .public, faults: ControllerFaults = []
  ) -> ControllerProfile? {
    guard case .done(let profile)? = ask(answers, kind: kind, faults: faults).outcome else { return nil }
    return profile
  }

  private static let extendedFeatures: [UInt8] = [0, 0, 0x10, 0, 0, 0, 0, 0, 0]

  /// Supported Commands with these bits in octet 37: 5 and 6 scan, 7 initiate.
  private static func commands(_ octet37: UInt8) -> [UInt8] {
    var octets = [UInt8](repeating: 0xFF, count: 65)
    octets[0] = 0
    octets[1 + 37] = octet37
    return octets
  }

  @Test func itLearnsWhatTheControllerCanDo() throws {
    let answers: [Opcode: [UInt8]] = [
      Self.features: Self.extendedFeatures, Self.commands: Self.commands(0xFF),
      Self.states: [0, 0xFF, 0xFF, 0x3F, 0, 0, 0, 0, 0], Self.listSize: [0, 16],
      LESetRandomAddress.opcode: [0], Self.dataLength: [0, 0xFB, 0x00], Self.sets: [0, 4],
      Self.disable: [0], Self.clear: [0],
    ]
    let (questions, outcome) = ask(answers, kind: .random)
    #expect(
      questions == [
        Self.features, Self.commands, Self.states, Self.listSize, LESetRandomAddress.opcode, Self.dataLength, Self.sets,
        Self.disable, Self.clear,
      ])
    guard case .done(let profile)? = outcome else {
      Issue.record("not done: \(String(describing: outcome))")
      return
    }
    #expect(profile.advertisesExtended && profile.scansExtended && profile.initiatesExtended)
    #expect(profile.states == LEStates(rawValue: 0x3F_FFFF))
    #expect(profile.acceptListSize == 16)
    #expect(profile.advertisingSets == 4)
    #expect(profile.advertisingDataLength == 251)
    #expect(profile.ownAddressType == .random)
  }

  @Test("An invalid answer to an optional question costs what it asks for, and is told with the command (stack 15)")
  func invalidAnswers() throws {
    for opcode in [Self.commands, Self.states, Self.listSize, Self.dataLength, Self.sets] {
      var answers: [Opcode: [UInt8]] = [
        Self.features: Self.extendedFeatures, Self.commands: Self.commands(0xFF),
        Self.states: [0] + [UInt8](repeating: 0xFF, count: 8),
        Self.listSize: [0, 16], Self.dataLength: [0, 0xFB, 0x00], Self.sets: [0, 4],
      ]
      answers[opcode] = [0]
      var machine = SetUpMachine(address: DeviceAddress(value: 0xC011_2233_4455, kind: .public), faults: [])
      var actions = machine.start(at: .zero)
      var warnings: [String] = []
      while true {
        for case .warned(let words) in actions { warnings.append(words) }
        guard case .send(let packet)? = actions.first else { break }
        let complete = CommandComplete {
          $0.opcode = packet.opcode
          $0.returnParameters = answers[packet.opcode] ?? [0x01]
        }
        actions = machine.handle(.commandComplete(complete), at: .zero)
      }
      guard case .done? = actions.first else {
        Issue.record("not done: \(actions)")
        continue
      }
      #expect(warnings.count == 1 && warnings[0].contains("0x\(String(opcode.rawValue, radix: 16))"), "\(warnings)")
    }
  }

  @Test("The longest packet is asked of controllers with long ones; it is 27 octets without the command")
  func longestPacket() throws {
    let features: [UInt8] = [0, 0x20, 0, 0, 0, 0, 0, 0, 0]
    func longest(_ octets: UInt8, _ commands: [UInt8]) -> Int? {
      let answer = [0, octets, 0, 0x48, 0x08, octets, 0, 0x48, 0x08]
      return learned([
        Self.features: features, Self.commands: commands, LEReadMaximumDataLength.opcode: answer,
      ])?.longestPacket
    }
    var without = Self.commands(0)
    without[1 + 33] = 0
    #expect(longest(251, Self.commands(0)) == 251 && longest(100, Self.commands(0)) == 100)
    #expect(longest(255, Self.commands(0)) == 251 && longest(0, Self.commands(0)) == 27)
    #expect(longest(251, without) == 27)
    #expect(learned([Self.features: features, Self.commands: Self.commands(0)])?.longestPacket == 27)
    let plain = ask([Self.features: [UInt8](repeating: 0, count: 9)])
    #expect(!plain.questions.contains(LEReadMaximumDataLength.opcode))
  }

  @Test("Each procedure has the family that the kernel chooses for it, by the supported commands")
  func familiesByCommands() throws {
    let cases: [(octet: UInt8, scans: Bool, initiates: Bool)] = [
      (0x00, false, false), (0x20, false, false), (0x40, false, false), (0x60, true, false), (0x80, false, true),
      (0xE0, true, true),
    ]
    for (octet, scans, initiates) in cases {
      let profile = try #require(
        learned([Self.features: Self.extendedFeatures, Self.commands: Self.commands(octet)]))
      #expect(profile.advertisesExtended)
      #expect(profile.scansExtended == scans && profile.initiatesExtended == initiates, "octet 37 is \(octet)")
    }
    let legacy = try #require(learned([Self.features: [UInt8](repeating: 0, count: 9)]))
    #expect(!legacy.advertisesExtended && !legacy.scansExtended && !legacy.initiatesExtended)
  }

  private func known(_ modalias: String) -> ControllerFaults {
    ControllerFaults(QuirkTable().quirks(of: .init(modalias: modalias)))
  }

  @Test func knownFaultsChooseTheLegacyFamily() throws {
    let answers = [Self.features: Self.extendedFeatures, Self.commands: Self.commands(0xFF)]
    let actions = try #require(
      learned(answers, faults: known("usb:v10D7pB012d8891dcE0dsc01dp01icE0isc01ip01in00\n")))
    #expect(actions.advertisesExtended && !actions.scansExtended && !actions.initiatesExtended)
    let apple = try #require(
      learned(answers, faults: known("pci:v000014E4d00005FA0sv0000106Bsd00005FA0bc02sc80i00")))
    #expect(apple.advertisesExtended && !apple.scansExtended && apple.initiatesExtended)
    #expect(known("usb:v8087p0029d0001") == [])
  }

  @Test("A refusal of an optional question is not the end: the least is assumed")
  func refusals() throws {
    let profile = try #require(learned([Self.features: Self.extendedFeatures], kind: .random))
    #expect(profile.advertisesExtended && profile.scansExtended && profile.initiatesExtended)
    #expect(profile.states == nil)
    #expect(profile.acceptListSize == 1)
    #expect(profile.advertisingSets == 1)
    #expect(profile.advertisingDataLength == 31)
  }

  @Test("What an earlier owner left goes: the sets at once, or, beside a train that goes on, one after the other")
  func leftovers() {
    let end = LESetPeriodicAdvertisingEnable.opcode, remove = LERemoveAdvertisingSet.opcode
    var answers: [Opcode: [UInt8]] = [
      Self.features: [0, 0, 0x30, 0, 0, 0, 0, 0, 0], Self.commands: Self.commands(0xFF), Self.sets: [0, 2],
      Self.disable: [0], Self.clear: [0],
    ]
    #expect(Array(ask(answers).questions.suffix(2)) == [Self.disable, Self.clear])
    // Command Disallowed; and there are no sets on those handles, which is not the end.
    answers[Self.clear] = [0x0C]
    answers[end] = [0x42]
    answers[remove] = [0x42]
    let (questions, outcome) = ask(answers)
    #expect(Array(questions.suffix(6)) == [Self.disable, Self.clear, end, remove, end, remove])
    guard case .done? = outcome else {
      Issue.record("not done: \(String(describing: outcome))")
      return
    }
    #expect(!ask([Self.features: [UInt8](repeating: 0, count: 9)]).questions.contains(Self.clear))
  }

  @Test func itFailsOnNonsenseAndSilence() {
    for octets: [UInt8] in [[0], [0, 1, 2], [0x0C], []] {
      guard case .failed? = ask([Self.features: octets]).outcome else {
        Issue.record("accepted \(octets)")
        continue
      }
    }
    var silent = SetUpMachine(address: DeviceAddress(value: 1, kind: .public), faults: [])
    _ = silent.start(at: .zero)
    #expect(silent.tick(at: .zero.advanced(by: CommandSlot.timeout)) == [.failed("it does not respond")])
  }
}
