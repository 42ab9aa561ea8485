import Bluetooth
import HCI
import Host
import Testing

@Suite struct HostSetUpTests {
  private static let spare = DeviceAddress(value: 0xC000_0000_0001, kind: .random)

  /// A controller that answers commands, and the commands that it was given.
  private struct Controller {
    /// The parameters that it returns behind the status, by opcode; other commands succeed with 251 octets of zeros.
    var returned: [UInt16: [UInt8]] = [0x2002: [27, 0, 3], 0x1009: [1, 2, 3, 4, 5, 6]]
    /// The opcodes that it refuses, each with the status.
    var refused: [UInt16: UInt8] = [:]
    private(set) var commands: [CommandPacket] = []

    /// Runs a set-up to its end.
    mutating func run(_ setUp: inout HostSetUp) -> HostSetUp.Action? {
      var actions = setUp.start(at: .zero)
      while let action = actions.first {
        guard case .send(let packet) = action else { return action }
        #expect(actions.count == 1, "one command at a time")
        commands.append(packet)
        actions = setUp.handle(answer(packet.opcode), at: .zero)
      }
      return nil
    }

    private func answer(_ opcode: Opcode) -> HCIEvent {
      if let status = refused[opcode.rawValue] {
        // As controllers answer unknown commands.
        return .commandStatus(
          CommandStatus {
            $0.status = HCIStatus(rawValue: status)
            $0.opcode = opcode
          })
      }
      let zeros = [UInt8](repeating: 0, count: 251)
      return .commandComplete(
        CommandComplete {
          $0.opcode = opcode
          $0.returnParameters = [0] + (returned[opcode.rawValue] ?? zeros)
        })
    }
  }

  private func profile(_ controller: inout Controller) -> HostController? {
    var setUp = HostSetUp(spare: Self.spare)
    guard case .done(let found) = controller.run(&setUp) else { return nil }
    return found
  }

  @Test func aControllerIsResetFirstAndItsEventsAreUnmasked() throws {
    var controller = Controller()
    let found = try #require(profile(&controller))
    #expect(controller.commands.first == CommandPacket(opcode: 0x0C03, parameters: []))
    #expect(found.profile.address == DeviceAddress(value: 0x0605_0403_0201, kind: .public))
    #expect((found.dataLength, found.dataPackets) == (27, 3))
    let mask = try #require(controller.commands.first { $0.opcode == 0x0C01 }).parameters
    // Number Of Completed Packets, Encryption Key Refresh Complete, LE Meta.
    #expect((mask[2] & 0x04, mask[5] & 0x80, mask[7] & 0x20) == (0x04, 0x80, 0x20))
    #expect(controller.commands.contains { $0.opcode == 0x2001 })
  }

  /// By maker, supported commands and refused ones: whether packets wait in the controller, and the commands given.
  @Test(
    arguments: [
      (0x05F1, 0xE0, [], true, [0x0C33, 0x0C31]), (0x0059, 0xFF, [], true, [0x0C33, 0x0C31]),
      (0x05F1, 0x60, [], false, []), (0x000F, 0xE0, [], false, []),
      (0x05F1, 0xE0, [0x0C33], false, [0x0C33]), (0x05F1, 0xE0, [0x0C31], false, [0x0C33, 0x0C31]),
    ] as [(UInt16, UInt8, [UInt16], Bool, [UInt16])])
  func controllersOfKnownMakersWaitForRoom(
    _ company: UInt16, _ octet: UInt8, _ refused: [UInt16], _ isSlowable: Bool, _ commands: [UInt16]
  ) throws {
    var controller = Controller()
    controller.returned[0x1001] = [13, 0, 0, 13, UInt8(truncatingIfNeeded: company), UInt8(company >> 8), 0, 0]
    controller.returned[0x1002] = [UInt8](repeating: 0, count: 10) + [octet] + [UInt8](repeating: 0, count: 53)
    for opcode in refused { controller.refused[opcode] = 0x12 }
    let found = try #require(profile(&controller))
    #expect(found.isSlowable == isSlowable)
    #expect(controller.commands.map(\.opcode.rawValue).filter { (0x0C31...0x0C35).contains($0) } == commands)
    if let sizes = controller.commands.first(where: { $0.opcode == 0x0C33 }) {
      #expect(sizes.parameters == [0xFF, 0x03, 0, 64, 0, 0, 0])
    }
  }

  @Test func buffersAreSharedWhereLEHasNone() throws {
    var controller = Controller()
    controller.returned[0x2002] = [0, 0, 0]
    controller.returned[0x1005] = [0xFD, 0x03, 60, 8, 0, 4, 0]
    let found = try #require(profile(&controller))
    #expect((found.dataLength, found.dataPackets) == (1021, 8))
  }

  @Test(
    arguments: [
      // Zephyr on a chip with an address; no address in the chip; another maker; a chip that does not know the command.
      (0x05F1, [1, 1, 2, 3, 4, 5, 0xC6] + [UInt8](repeating: 0, count: 16), true, 0xC605_0403_0201),
      (0x0059, [0], true, nil), (0x0059, [1, 1, 2, 3, 4, 5, 0x06], true, nil), (0x0059, [1, 1, 2], true, nil),
      (0x000F, [1, 1, 2, 3, 4, 5, 0xC6], false, nil), (0x05F1, nil, true, nil),
    ] as [(UInt16, [UInt8]?, Bool, UInt64?)])
  func theAddressInTheChipIsUsed(_ company: UInt16, _ answer: [UInt8]?, _ isAsked: Bool, _ address: UInt64?) throws {
    var controller = Controller()
    // HCI 5.4, revision 0, LMP 5.4, the maker, revision 0.
    controller.returned[0x1001] = [13, 0, 0, 13, UInt8(truncatingIfNeeded: company), UInt8(company >> 8), 0, 0]
    controller.returned[0x1009] = [0, 0, 0, 0, 0, 0]
    controller.returned[0xFC09] = answer
    if answer == nil { controller.refused[0xFC09] = 0x01 }
    let found = try #require(profile(&controller))
    #expect(controller.commands.contains { $0.opcode == 0xFC09 } == isAsked)
    let expected = address.map { DeviceAddress(value: $0, kind: .random) } ?? Self.spare
    #expect(found.profile.address == expected)
    let set = try #require(controller.commands.first { $0.opcode == 0x2005 })
    #expect(set.parameters == expected.littleEndian)
  }

  /// AA:AA:AA:AA:AA:AA, FF:FF:FF:FF:FF:FF, two of btbcm.c, and that of another adapter: each is that of many devices.
  @Test(
    arguments: [
      [UInt8](repeating: 0xAA, count: 6), [UInt8](repeating: 0xFF, count: 6), [0x00, 0xA0, 0x02, 0x70, 0x20, 0x00],
      [0xAC, 0x1F, 0x12, 0xA0, 0x43, 0x43], [1, 2, 3, 4, 5, 7],
    ]) func anAddressThatOthersHaveIsNoIdentity(_ octets: [UInt8]) throws
  {
    var controller = Controller()
    controller.returned[0x1009] = octets
    let other = DeviceAddress(value: 0x0705_0403_0201, kind: .public)
    var setUp = HostSetUp(spare: Self.spare, others: [other])
    guard case .done(let found) = controller.run(&setUp) else { return #expect(Bool(false)) }
    #expect(found.profile.address == Self.spare)
    #expect(found.sharedAddress?.littleEndian == octets)
    #expect(controller.commands.first { $0.opcode == 0x2005 }?.parameters == Self.spare.littleEndian)
    // An address of its own.
    controller.returned[0x1009] = [1, 2, 3, 4, 5, 6]
    let own = try #require(profile(&controller))
    #expect(own.profile.address.value == 0x0605_0403_0201 && own.sharedAddress == nil)
  }

  @Test func aControllerWithoutAddressGetsTheSpareOne() throws {
    var controller = Controller()
    controller.refused[0x1009] = 0x01
    let found = try #require(profile(&controller))
    #expect(found.profile.address == Self.spare)
    #expect(controller.commands.contains { $0.opcode == 0x2005 }, "LE Set Random Address")
  }

  /// The kernel has no room for reports about more packets that are not read.
  @Test func moreBuffersThanNeededAreNotUsed() throws {
    var controller = Controller()
    controller.returned[0x2002] = [0, 0, 0]
    controller.returned[0x1005] = [0xFD, 0x03, 60, 0xFF, 0xFF, 4, 0]
    let found = try #require(profile(&controller))
    #expect(found.dataPackets == 128)
  }

  @Test func answersMayBeLonger() throws {
    var controller = Controller()
    controller.returned[0x2002] = [27, 0, 3, 9, 9, 9]
    controller.returned[0x1009] = [1, 2, 3, 4, 5, 6, 7]
    let found = try #require(profile(&controller))
    #expect(found.dataPackets == 3)
  }

  @Test func linksAreToldByControllersWithoutTheCentralRole() throws {
    var controller = Controller()
    controller.returned[0x1002] = [UInt8](repeating: 0, count: 64)
    controller.returned[0x2003] = [0x20, 0, 0, 0, 0, 0, 0, 0]
    _ = try #require(profile(&controller))
    // With the events of Data Length Extension.
    #expect(controller.commands.last { $0.opcode == 0x2001 }?.parameters == [0x5F, 0, 0, 0, 0, 0, 0, 0])
  }

  @Test func aMaskThatIsRefusedIsReplacedByTheOldestOne() throws {
    var controller = Controller()
    controller.refused[0x2001] = 0x12
    _ = try #require(profile(&controller))
    #expect(controller.commands.filter { $0.opcode == 0x2001 }.map(\.parameters).last == [0x1F, 0, 0, 0, 0, 0, 0, 0])
    #expect(controller.commands.filter { $0.opcode == 0x2001 }.count == 2)
  }

  @Test(arguments: [UInt16(0x0C03), 0x2002, 0x2003])
  func someCommandsAreIndispensable(_ opcode: UInt16) {
    var controller = Controller()
    controller.refused[opcode] = 0x01
    var setUp = HostSetUp(spare: Self.spare)
    let action = controller.run(&setUp)
    guard case .failed = action else { return #expect(Bool(false), "\(String(describing: action))") }
  }

  @Test(arguments: [UInt16(0x1001), 0x1002, 0x0C01, 0x0C6D, 0x201C, 0x200F])
  func othersAreNot(_ opcode: UInt16) {
    var controller = Controller()
    controller.refused[opcode] = 0x01
    #expect(profile(&controller) != nil)
  }

  @Test func answersOfAnEarlierHostAreIgnored() {
    var setUp = HostSetUp(spare: Self.spare)
    _ = setUp.start(at: .zero)
    let stale = CommandComplete {
      $0.opcode = LESetScanEnable.opcode
      $0.returnParameters = [0]
    }
    #expect(setUp.handle(.commandComplete(stale), at: .zero) == [])
    let credits = CommandComplete { $0.credits = 1 }
    #expect(setUp.handle(.commandComplete(credits), at: .zero) == [])
    let reset = CommandComplete {
      $0.opcode = 0x0C03
      $0.returnParameters = [0]
    }
    #expect(setUp.handle(.commandComplete(reset), at: .zero).count == 1)
  }

  @Test func aSilentControllerFailsAfterTheTimeOfReset() {
    var setUp = HostSetUp(spare: Self.spare)
    _ = setUp.start(at: .zero)
    #expect(setUp.deadline == Instant.zero.advanced(by: .seconds(10)))
    #expect(setUp.tick(at: .zero.advanced(by: .seconds(9))) == [])
    #expect(setUp.tick(at: .zero.advanced(by: .seconds(10))) == [.failed("it does not respond")])
  }

  @Test func aControllerThatGivesNoCreditGetsTheNextCommandAllTheSame() {
    var setUp = HostSetUp(spare: Self.spare)
    _ = setUp.start(at: .zero)
    let reset = CommandComplete {
      $0.credits = 0
      $0.opcode = 0x0C03
      $0.returnParameters = [0]
    }
    #expect(setUp.handle(.commandComplete(reset), at: .zero) == [])
    #expect(setUp.deadline == Instant.zero.advanced(by: .seconds(5)))
    #expect(
      setUp.tick(at: .zero.advanced(by: .seconds(5))) == [.send(CommandPacket(ReadLocalVersionInformation()))])
  }

  @Test func noBuffersAtAllAreAFailure() {
    var controller = Controller()
    controller.returned[0x2002] = [0, 0, 0]
    controller.returned[0x1005] = [0, 0, 0, 0, 0, 0, 0]
    var setUp = HostSetUp(spare: Self.spare)
    #expect(controller.run(&setUp) == .failed("it has no buffers for data"))
  }
}
