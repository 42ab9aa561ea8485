import Adapter
import Bluetooth
import HCI
import Testing

@testable import Controllers

struct LifecycleMachineTests {
  private let problem = AdapterProblem(kind: .inUse, message: "bluetoothd (pid 7) holds hci0", remedy: "stop it")
  private let blocked = AdapterProblem(kind: .blocked, message: "hci0 is blocked by rfkill", remedy: "unblock it")
  private let address = DeviceAddress(value: 0x00AA_0100_0000, kind: .public)

  private typealias Script = LifecycleScript

  @Test func anAdapterThatIsOffIsSetUpAndSwitchedOn() throws {
    var script = Script(.index(0))
    try script.bringUp()
    #expect(script.told.contains(.openRadio(ControllerIndex(rawValue: 0), address: address)))
    #expect(script.states() == [.starting, .starting, .on])
    script.silent()
    // Left as it was found.
    script.give(.stop(needsCycle: true))
    try script.command("0900 0000 0100 00")
    try script.command("0500 0000 0100 00")
    #expect(script.told.last == .stopped)
  }

  @Test func theKeysOfItsOwnBondsAreLoadedBeforePower() throws {
    var script = Script(.index(0))
    var own = Bond(local: address, peer: DeviceAddress(value: 0xC0DE_0000_0001, kind: .random))
    own.add(
      LongTermKey(
        value: [UInt8](repeating: 0xAB, count: 16), size: 16, diversifier: 0, random: 0, isAuthenticated: true,
        isSecureConnections: true, role: .peripheral))
    own.identityResolvingKey = [UInt8](repeating: 0xCD, count: 16)
    let other = Bond(local: DeviceAddress(value: 0x00AA_0100_0001, kind: .public), peer: own.peer)
    try script.find()
    script.give(.rival(nil, bonds: [own, other]))
    try script.command("3400 0000 0700 000000000000 00")
    try script.command("3f00 0000 0100 00")
    let key = String(repeating: "ab", count: 16)
    try script.command("1300 0000 2600 0100 01000000dec0 02 03 00 10 0000 0000000000000000 \(key)")
    try script.command("3000 0000 1900 0100 01000000dec0 02 " + String(repeating: "cd", count: 16))
  }

  @Test func withoutPairingTheKernelAsksUsAndStoresNoKeys() throws {
    var script = Script(.index(0), acceptsPairing: false)
    try script.findReady()
    try script.command("1800 0000 0100 01")
    try script.command("0900 0000 0100 00")
    script.give(.radioOpened)
    script.silent()
    script.give(.stop(needsCycle: false))
    try script.command("0900 0000 0100 01")
    #expect(script.told.last == .stopped)
  }

  @Test func secureConnectionsBesideBREDRNeedSecureSimplePairingFirst() throws {
    var script = Script(.index(0))
    try script.find(current: [.lowEnergy, .basicRate, .bondable])
    script.give(.rival(nil))
    try script.leftoversRemoved()
    try script.command("0b00 0000 0100 01")
    try script.command("2d00 0000 0100 01")
  }

  @Test func privateAddressesAreSwitchedOffWithoutPower() throws {
    var script = Script(.index(0))
    try script.findReady(with: [.privacy])
    try script.command("0500 0000 0100 00")
    try script.command("2f00 0000 1100 00 00000000000000000000000000000000")
    try script.command("1800 0000 0100 03")
    try script.command("0500 0000 0100 01")
    #expect(script.told.last == .openRadio(ControllerIndex(rawValue: 0), address: address))
  }

  @Test func privateAddressesAreSwitchedOnWithoutPowerAndOffAgain() throws {
    var script = Script(.index(0))
    let privacy = PrivacySettings(root: [UInt8](repeating: 7, count: 16), rotation: .seconds(900))
    script.machine.privacy = privacy
    try script.findReady(with: [.connectable])
    try script.command("0500 0000 0100 00")
    let key = Hex.encode(try #require(privacy.identityResolvingKey(of: address)))
    try script.command("2f00 0000 1100 02 \(key)")
    try script.command("0700 0000 0100 00")
    try script.command("1800 0000 0100 03")
    try script.command("0500 0000 0100 01")
    script.give(.radioOpened)
    script.silent()
    script.give(.stop(needsCycle: false))
    try script.command("0500 0000 0100 00")
    try script.command("2f00 0000 1100 00 00000000000000000000000000000000")
    try script.command("0700 0000 0100 01")
    try script.command("0500 0000 0100 01")
    #expect(script.told.last == .stopped)
  }

  @Test func anAdapterThatIsOnIsLeftOnAfterAPowerCycle() throws {
    var script = Script(.index(0))
    try script.findReady()
    try script.command("1800 0000 0100 03")
    script.give(.radioOpened)
    script.silent()
    script.give(.stop(needsCycle: true))
    try script.command("0500 0000 0100 00")
    try script.command("0500 0000 0100 01")
    #expect(script.told.last == .stopped)
  }

  @Test func anAdapterWithoutAddressGetsARandomOneWhileOff() throws {
    var script = Script(.index(0))
    try script.findReady(address: 0)
    try script.command("0500 0000 0100 00")
    try script.command("2b00 0000 0600 5544332211c0")
    try script.command("1800 0000 0100 03")
    try script.command("0500 0000 0100 01")
    let random = DeviceAddress(value: 0xC011_2233_4455, kind: .random)
    #expect(script.told.last == .openRadio(ControllerIndex(rawValue: 0), address: random))
  }

  @Test func theAdapterIsChosenByAddress() throws {
    var script = Script(.address(address))
    try script.command("0300 ffff 0000", returns: [2, 0, 0, 0, 1, 0])
    try script.describe(address: 0x00AA_0100_0009)
    try script.describe(index: "0100", address: address.value)
    guard case .identity(let index, _)? = script.told.dropLast().last else {
      Issue.record("not found")
      return
    }
    #expect(index.rawValue == 1)
  }

  @Test func whatOtherControllersThereAreIsTold() throws {
    var script = Script(.index(0))
    try script.command("0300 ffff 0000", returns: [2, 0, 3, 0, 0, 0])
    #expect(script.told.last == .controllers([ControllerIndex(rawValue: 3), ControllerIndex(rawValue: 0)]))
    try script.describe(address: address.value)
    // Also while this one does not work.
    script.give(.rival(problem))
    try script.event(0x0004, index: 4)
    #expect(script.told.last == .controllers([ControllerIndex(rawValue: 4)]))
  }

  @Test func absentUntilItIsPluggedIn() throws {
    var script = Script(.index(0))
    try script.command("0300 ffff 0000", returns: [0, 0])
    #expect(script.states() == [.starting, .absent])
    script.wait(.seconds(3600))
    script.silent()
    try script.event(0x0004)
    try script.bringUp()
    #expect(script.states() == [.starting, .on])
    try script.event(0x0005)
    guard case .closeRadio(let error)? = script.told.first else {
      Issue.record("the radio was not closed")
      return
    }
    #expect(error.name == "adapterAbsent")
    #expect(script.states() == [.absent])
    try script.event(0x0004)
    try script.bringUp()
    #expect(script.states() == [.starting, .on])
  }

  @Test("Another owner of the adapter is named, and its end noticed (P1)")
  func aRivalIsNamedAndItsEndNoticed() throws {
    var script = Script(.index(0))
    try script.find()
    script.give(.rival(problem))
    #expect(script.states() == [.starting, .failed(problem)])
    script.silent()
    script.wait(.seconds(2))
    try script.find()
    script.give(.rival(problem))
    #expect(script.states() == [.failed(problem)])
    script.wait(.seconds(4))
    try script.bringUp()
    #expect(script.states() == [.on])
  }

  @Test(arguments: [(UInt8(0x12), AdapterProblem.Kind.blocked), (0x14, .permission), (0x03, .hardware)])
  func refusalsSayWhatIsWrong(status: UInt8, kind: AdapterProblem.Kind) throws {
    var script = Script(.index(0))
    try script.find(current: [.lowEnergy, .secureConnections, .bondable])
    script.give(.rival(nil))
    try script.leftoversRemoved()
    try script.command("1800 0000 0100 03")
    try script.command("0500 0000 0100 01", status: status)
    if kind != .permission {
      #expect(script.told.last == .findBlock)
      script.give(.blocked(nil))
    }
    guard case .failed(let problem)? = script.states().last else {
      Issue.record("not failed")
      return
    }
    #expect(problem.kind == kind)
    #expect(problem.message.contains("hci0"))
  }

  @Test func powerWithoutBluetoothIsRefusedAtOnceAndWithTheReason() {
    let none = AdapterProblem(kind: .unsupported, message: "the kernel has no Bluetooth here", remedy: "load it")
    var script = Script(.index(0))
    script.give(.managementFailed(none))
    script.give(.setPower(true))
    #expect(script.told.last == .openManagement)
    script.give(.managementFailed(none))
    #expect(script.told.last == .powerDone(LifecycleMachine.failed(none)))
  }

  @Test("A block by rfkill is named, and the adapter comes back by itself when it is lifted (P24)")
  func rfkill() throws {
    var script = Script(.index(0))
    try script.bringUp()
    _ = script.states()
    try script.event(0x0006, "10020000")
    #expect(script.told.last == .findBlock)
    script.give(.blocked(blocked))
    #expect(script.states() == [.off, .failed(blocked)])
    script.give(.rfkillChanged)
    #expect(script.told.last == .findBlock)
    script.give(.blocked(nil))
    try script.find(current: [.lowEnergy, .secureConnections, .bondable])
    script.give(.rival(nil))
    try script.leftoversRemoved()
    try script.command("1800 0000 0100 03")
    try script.command("0500 0000 0100 01")
    script.give(.radioOpened)
    #expect(script.states() == [.on])
  }

  @Test("A controller that refuses power is asked about, whatever status the kernel gives for a block (P24)")
  func refusedForABlock() throws {
    var script = Script(.index(0))
    try script.find(current: [.lowEnergy, .secureConnections, .bondable])
    script.give(.rival(nil))
    script.give(.setPower(true))
    try script.leftoversRemoved()
    try script.command("1800 0000 0100 03")
    try script.command("0500 0000 0100 01", status: 0x03)
    #expect(script.told.last == .findBlock)
    script.give(.blocked(blocked))
    let error = GAPError.adapterFailed.error(blocked.text)
    #expect(script.told.last == .powerDone(error))
    #expect(script.states() == [.starting, .starting, .failed(blocked)])
  }

  @Test("While it is blocked nothing is tried, only asked whether it still is (P24)")
  func stillBlocked() throws {
    var script = Script(.index(0))
    try script.bringUp()
    try script.event(0x0006, "10020000")
    script.give(.blocked(blocked))
    // Another radio was blocked.
    script.give(.rfkillChanged)
    script.give(.blocked(blocked))
    for _ in 0..<5 {
      _ = script.states()
      script.wait(.seconds(10))
      #expect(script.told == [.findBlock])
      script.give(.blocked(blocked))
    }
    script.silent()
    // Without rfkill events, the end of the block is noticed all the same.
    script.wait(.seconds(10))
    script.give(.blocked(nil))
    try script.find()
  }

  @Test func anAdapterThatOthersSwitchedOffStaysOff() throws {
    var script = Script(.index(0))
    try script.bringUp()
    _ = script.states()
    try script.event(0x0006, "10020000")
    script.give(.blocked(nil))
    script.give(.rfkillChanged)
    script.give(.blocked(nil))
    #expect(script.states() == [.off])
    script.silent()
  }

  @Test("A controller that stopped answering gets a power cycle before it is used again (P24)")
  func powerCycle() throws {
    let broken = AdapterProblem(kind: .hardware, message: "hci0 does not respond", remedy: "unplug it")
    var script = Script(.index(0))
    try script.bringUp()
    script.give(.radioFailed(broken))
    #expect(script.states().last == .failed(broken))
    script.wait(.seconds(2))
    try script.findReady()
    try script.command("0500 0000 0100 00")
    try script.command("1800 0000 0100 03")
    try script.command("0500 0000 0100 01")
    script.give(.radioOpened)
    #expect(script.states() == [.on])
  }

  @Test func powerThatOthersSwitch() throws {
    var script = Script(.index(0))
    try script.bringUp()
    _ = script.states()
    try script.event(0x0006, "10020000")
    #expect(script.told.first == .closeRadio(GAPError.adapterOff.error("the adapter was switched off")))
    #expect(script.states() == [.off])
    try script.event(0x0006, "11020000")
    try script.findReady()
    try script.command("1800 0000 0100 03")
    script.give(.radioOpened)
    #expect(script.states() == [.starting, .on])
  }

  @Test func powerThatWeSwitch() throws {
    var script = Script(.index(0))
    try script.bringUp()
    _ = script.states()
    script.give(.setPower(false))
    try script.command("0500 0000 0100 00")
    #expect(script.told.last == .powerDone(nil))
    #expect(script.states() == [.off])
    script.give(.setPower(true))
    try script.find(current: [.lowEnergy, .secureConnections, .bondable])
    script.give(.rival(nil))
    try script.leftoversRemoved()
    try script.command("1800 0000 0100 03")
    try script.command("0500 0000 0100 01")
    script.give(.radioOpened)
    #expect(script.told.last == .powerDone(nil))
    #expect(script.states() == [.starting, .on])
  }

  @Test(
    "Power asked for while it goes off comes back once it is off, and everybody is answered (P24)",
    arguments: [true, false])
  func powerAtOnceAgain(isAnswered: Bool) throws {
    var script = Script(.index(0))
    try script.bringUp()
    _ = script.states()
    script.give(.setPower(false))
    script.give(.setPower(true))
    #expect(script.told.last == .state(.off))
    if isAnswered {
      try script.command("0500 0000 0100 00")
    } else {
      try script.take("0500 0000 0100 00")
      script.wait(LifecycleMachine.timeout)
    }
    try script.event(0x0006, "10020000")
    try script.find(current: [.lowEnergy, .secureConnections, .bondable])
    script.give(.rival(nil))
    try script.leftoversRemoved()
    try script.command("1800 0000 0100 03")
    try script.command("0500 0000 0100 01")
    script.give(.radioOpened)
    #expect(script.told.last == .powerDone(nil))
    #expect(script.states() == [.off, .starting, .on])
    script.silent()
  }

  @Test("Who asked for power is answered when somebody else switches it off meanwhile (P24)", arguments: [true, false])
  func powerLostWhileTheRadioOpens(isOnWanted: Bool) throws {
    let off = GAPError.adapterOff.error("the adapter was switched off")
    var script = Script(.index(0))
    try script.findReady()
    try script.command("1800 0000 0100 03")
    script.give(.setPower(isOnWanted))
    try script.event(0x0006, "10020000")
    #expect(script.told.last == .powerDone(isOnWanted ? off : nil))
    #expect(script.told.contains(.findBlock) == isOnWanted)
    #expect(script.states().last == .off)
    script.silent()
  }

  @Test func aKernelThatDoesNotAnswer() throws {
    var script = Script(.index(0))
    try script.find()
    script.give(.rival(nil))
    script.wait(LifecycleMachine.timeout)
    guard case .failed(let problem)? = script.states().last else {
      Issue.record("not failed")
      return
    }
    #expect(problem.kind == .hardware)
  }
}
