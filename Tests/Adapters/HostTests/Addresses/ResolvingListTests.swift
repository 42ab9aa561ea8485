import Bluetooth
import BluetoothCrypto
import HCI
import Testing

@testable import Host

@Suite struct ResolvingListTests {
  private static let refused = HCIStatus(.unsupportedFeatureOrParameterValue)

  private func entry(_ number: UInt32, key: UInt32 = 1) -> ResolvingList.Entry {
    ResolvingList.Entry(
      device: DeviceAddress(value: 0xC0_0000_0000_00 | UInt64(number), kind: .random), key: Key128(key),
      localKey: Key128(7))
  }

  /// The next command.
  private func next(_ list: inout ResolvingList) throws -> CommandPacket {
    let command = list.next()
    return try #require(command)
  }

  /// Executes commands until there are no more.
  /// - Returns: the commands: their last octets, with the device's number behind the opcode where there is one.
  private func run(
    _ list: inout ResolvingList, _ answer: (CommandPacket) -> HCIStatus = { _ in .success }
  ) -> [String] {
    var commands: [String] = []
    while let packet = list.next(), commands.count < 50 {
      list.answered(answer(packet))
      let name =
        switch packet.opcode {
        case LEAddDeviceToResolvingList.opcode: "add"
        case LERemoveDeviceFromResolvingList.opcode: "remove"
        case LESetPrivacyMode.opcode: "mode \(packet.parameters.last ?? 0) of"
        case 0x2029: "clear"
        default: "enable"
        }
      let number = packet.parameters.dropFirst(name == "enable" ? 0 : 1).first
      commands.append(number.map { "\(name) \($0)" } ?? name)
    }
    return commands
  }

  @Test func aDeviceIsAddedAndPutIntoDevicePrivacyMode() throws {
    var list = ResolvingList(size: 4)
    #expect(!list.isDue)
    list.want([entry(1)])
    #expect(list.isDue && !list.resolves(entry(1).device))
    let add = try next(&list)
    #expect(add.opcode == 0x2027)
    #expect(
      add.parameters
        == [1, 1, 0, 0, 0, 0, 0xC0] + Key128(1).littleEndian + Key128(7).littleEndian)
    list.answered(.success)
    let mode = try next(&list)
    #expect(mode.opcode == 0x204E && mode.parameters == [1, 1, 0, 0, 0, 0, 0xC0, 1])
    list.answered(.success)
    #expect(list.isDue && !list.resolves(entry(1).device))
    let enable = try next(&list)
    #expect(enable.opcode == 0x202D && enable.parameters == [1])
    list.answered(.success)
    #expect(!list.isDue && list.resolves(entry(1).device))
  }

  @Test func nothingIsChangedWhileResolutionIsOn() {
    var list = ResolvingList(size: 4)
    list.want([entry(1), entry(2)])
    #expect(run(&list) == ["add 1", "mode 1 of 1", "add 2", "mode 1 of 2", "enable 1"])
    // Another order is the same list.
    list.want([entry(2), entry(1)])
    #expect(!list.isDue)
    // The device has another key.
    list.want([entry(2), entry(1, key: 9)])
    #expect(run(&list) == ["enable 0", "remove 1", "add 1", "mode 1 of 1", "enable 1"])
    list.want([])
    #expect(run(&list) == ["enable 0", "remove 2", "remove 1"])
    #expect(!list.isDue && !list.resolves(entry(1).device))
  }

  @Test func theFirstDevicesAreInAListThatHoldsNoMore() {
    var list = ResolvingList(size: 1)
    list.want([entry(1), entry(2)])
    #expect(run(&list) == ["add 1", "mode 1 of 1", "enable 1"])
    var full = ResolvingList(size: 4)
    full.want([entry(1), entry(2)])
    let commands = run(&full) { packet in
      packet.opcode == 0x2027 && packet.parameters[1] == 2 ? HCIStatus(.memoryCapacityExceeded) : .success
    }
    // The list may have had other entries: it is cleared, once.
    let add = ["add 1", "mode 1 of 1", "add 2"]
    #expect(commands == add + ["clear"] + add + ["enable 1"])
    #expect(full.resolves(entry(1).device) && !full.resolves(entry(2).device) && !full.isDue)
  }

  /// The next devices would not fit into the list, or the controller would have an old key.
  @Test(arguments: [HCIErrorCode.success, .unknownConnectionIdentifier, .commandDisallowed, .hardwareFailure])
  func aListWithADeviceThatStaysIsCleared(_ refusal: HCIErrorCode) {
    var list = ResolvingList(size: 2)
    list.want([entry(1), entry(2)])
    _ = run(&list)
    list.want([entry(2), entry(3)])
    let commands = run(&list) { $0.opcode == LERemoveDeviceFromResolvingList.opcode ? HCIStatus(refusal) : .success }
    let isRemoved = [.success, .unknownConnectionIdentifier].contains(refusal)
    let rest = isRemoved ? ["add 3", "mode 1 of 3"] : ["clear", "add 2", "mode 1 of 2", "add 3", "mode 1 of 3"]
    #expect(commands == ["enable 0", "remove 1"] + rest + ["enable 1"])
    #expect(list.resolves(entry(3).device) && !list.resolves(entry(1).device))
  }

  @Test func aListThatCannotBeClearedIsNotTrusted() {
    var list = ResolvingList(size: 2)
    list.want([entry(1)])
    _ = run(&list)
    list.want([entry(2)])
    _ = run(&list) { $0.opcode == 0x2029 || $0.opcode == 0x2028 ? HCIStatus(.hardwareFailure) : .success }
    #expect(!list.resolves(entry(1).device) && !list.resolves(entry(2).device) && !list.isDue)
  }

  /// The list has its earlier size, and no step is left out.
  @Test(arguments: 0..<5) func aCommandThatIsNotSentIsRepeatedLater(_ failing: Int) {
    var list = ResolvingList(size: 4)
    list.want([entry(1), entry(2)])
    for _ in 0..<failing {
      guard list.next() != nil else { break }
      list.answered(.success)
    }
    let unsent = list.next()
    list.postpone()
    let next = list.next()
    #expect(next == nil && list.isPostponed && list.isDue)
    list.want([entry(1), entry(2)])
    let repeated = list.next()
    #expect(repeated == unsent && repeated != nil)
    list.answered(.success)
    _ = run(&list)
    #expect(list.resolves(entry(1).device) && list.resolves(entry(2).device) && !list.isDue)
  }

  @Test("A controller that refuses a command resolves nothing", arguments: [0x2027, 0x204E, 0x202D] as [UInt16])
  func refusal(opcode: UInt16) {
    var list = ResolvingList(size: 4)
    list.want([entry(1)])
    let commands = run(&list) { $0.opcode.rawValue == opcode ? Self.refused : .success }
    #expect(!list.resolves(entry(1).device) && !list.isDue, "\(commands)")
    // In network privacy mode the device would not be received.
    #expect(commands.last == (opcode == 0x204E ? "remove 1" : opcode == 0x2027 ? "add 1" : "enable 1"))
  }

  @Test func aDeviceThatIsRefusedAsOneThatIsThereIsRemovedFirst() {
    var list = ResolvingList(size: 4)
    list.want([entry(1)])
    var refusals = 1
    let commands = run(&list) { packet in
      guard packet.opcode == LEAddDeviceToResolvingList.opcode, refusals > 0 else { return .success }
      refusals -= 1
      return HCIStatus(.invalidHCICommandParameters)
    }
    #expect(commands == ["add 1", "remove 1", "add 1", "mode 1 of 1", "enable 1"])
    var other = ResolvingList(size: 4)
    other.want([entry(1)])
    let all = run(&other) { $0.opcode == 0x2027 ? HCIStatus(.invalidHCICommandParameters) : .success }
    #expect(all == ["add 1", "remove 1", "add 1"] && !other.isDue)
    // The others are listed all the same, and so is this one with another key.
    other.want([entry(1), entry(2)])
    #expect(run(&other) == ["add 2", "mode 1 of 2", "enable 1"])
    other.want([entry(1, key: 5), entry(2)])
    #expect(run(&other) == ["enable 0", "add 1", "mode 1 of 1", "enable 1"])
  }

  @Test func resolutionThatCannotBeSwitchedNowIsSwitchedLater() {
    var list = ResolvingList(size: 4)
    list.want([entry(1)])
    let busy = HCIStatus(.commandDisallowed)
    #expect(run(&list) { $0.opcode == 0x202D ? busy : .success } == ["add 1", "mode 1 of 1", "enable 1"])
    #expect(list.isPostponed && list.isDue && !list.resolves(entry(1).device))
    // The device cannot be called under a private address yet.
    #expect(!list.isToResolve(entry(1).device))
    list.want([entry(1)])
    #expect(list.isToResolve(entry(1).device))
    #expect(run(&list) == ["enable 1"] && list.resolves(entry(1).device))
    list.want([entry(1), entry(2)])
    #expect(run(&list) { _ in busy } == ["enable 0"])
    #expect(list.isToResolve(entry(1).device) && !list.isToResolve(entry(2).device))
    list.want([])
    #expect(run(&list) { _ in busy } == ["enable 0"])
    #expect(list.isPostponed && list.resolves(entry(1).device))
    list.want([])
    #expect(run(&list) == ["enable 0", "remove 1"] && !list.isDue)
  }

  @Test func onlyAddressesOfListedKeysShouldBeResolved() {
    var list = ResolvingList(size: 4)
    var random = SystemRandomNumberGenerator()
    let (address, other) = (
      DeviceAddress.privateAddress(of: Key128(1), using: &random),
      DeviceAddress.privateAddress(of: Key128(2), using: &random)
    )
    list.want([entry(1)])
    #expect(!list.shouldResolve(address, of: entry(1).device))
    _ = run(&list)
    #expect(list.shouldResolve(address, of: entry(1).device))
    // The device has another key, as for another adapter, or uses an address that is not private.
    #expect(!list.shouldResolve(other, of: entry(1).device))
    #expect(!list.shouldResolve(entry(3).device, of: entry(1).device))
    // The device was paired again.
    list.want([entry(1, key: 2)])
    #expect(!list.shouldResolve(address, of: entry(1).device))
  }

  @Test func aControllerThatDoesNotResolveIsToldToLeaveIt() {
    var list = ResolvingList(size: 4)
    list.want([entry(1)])
    _ = run(&list)
    list.distrust()
    #expect(!list.resolves(entry(1).device) && list.isDue)
    #expect(run(&list) == ["enable 0", "remove 1"])
    list.want([entry(1), entry(2)])
    #expect(!list.isDue)
  }
}
