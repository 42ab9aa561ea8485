import Adapter
import Bluetooth
import BluetoothCrypto
import HCI
import Testing

@testable import Host
@testable import Controllers

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

  @Test func aLinkThatComesUpWhileTheAddressChangesIsKept() throws {
    let stage = try HostStage(privacy: .seconds(900))
    let first = stage.adapter.information.privateAddress
    stage.adapter.connect(to: HostStage.phone, ConnectionParameters())
    try stage.settle()
    try stage.wait(.seconds(900))
    #expect(stage.controller.commands.last?.opcode == LECreateConnectionCancel.opcode)
    try stage.controller.tell(HostStage.connected(0x40, as: .central))
    try stage.settle()
    #expect(stage.adapter.information.privateAddress != first)
    #expect(!stage.controller.commands.contains { $0.opcode == Disconnect.opcode })
    try stage.controller.tell(
      .leReadRemoteFeaturesComplete(LEReadRemoteFeaturesComplete { $0.handle = 0x40 }))
    try stage.settle()
    #expect(stage.links.map(\.peer) == [HostStage.phone] && stage.ends.isEmpty)
  }

  // MARK: - The resolving list

  private static let device = DeviceAddress(value: 0xC0FF_EE00_0001, kind: .random)

  /// The bonds of a test.

  /// A bond with an identity resolving key.
  private func bond(_ stage: HostStage, with device: DeviceAddress = Self.device) -> Bond {
    var bond = Bond(local: stage.adapter.information.address, peer: device)
    bond.identityResolvingKey = [UInt8](1...16)
    return bond
  }

  /// A stage with a controller that resolves private addresses.
  private func resolving(
    privacy: Duration? = nil, _ bonds: StoredBonds, _ change: (ScriptedController) -> Void = { _ in }
  ) throws -> HostStage {
    let stage = try HostStage(privacy: privacy) {
      $0.returned[0x2003] = [0x40, 0, 0, 0, 0, 0, 0, 0]
      var commands = [UInt8](repeating: 0, count: 64)
      (commands[34], commands[35], commands[39]) = (0x58, 0x02, 0x04)
      $0.returned[0x1002] = commands
      $0.returned[0x202A] = [4]
      change($0)
    }
    stage.adapter.setBonds(bonds)
    return stage
  }

  /// The commands about the list and the activities around it.
  private func listing(_ stage: HostStage) -> [UInt16] {
    stage.controller.commands.map(\.opcode.rawValue).filter { [0x2027, 0x2028, 0x202D, 0x204E, 0x200C].contains($0) }
  }

  @Test func aNewBondComesIntoTheListWhileTheScanPauses() throws {
    let bonds = StoredBonds()
    let stage = try resolving(bonds)
    #expect(listing(stage) == [])
    stage.adapter.setScan(ScanParameters())
    try stage.settle()
    #expect(listing(stage) == [0x200C])
    bonds.all = [bond(stage)]
    stage.adapter.bondsAdded()
    try stage.settle()
    // The radio makes sure that the scan is off before it continues.
    let scan: [UInt16] = [0x200C, 0x200C]
    #expect(listing(stage) == [0x200C, 0x200C, 0x2027, 0x204E, 0x202D] + scan)
    #expect(stage.adapter.resolves(Self.device))
    // The pause was not reported, and there is no private address.
    #expect(!stage.events.contains { if case .scanning(false) = $0 { true } else { false } })
    #expect(stage.adapter.information.privateAddress == nil)
    #expect(try addresses(stage).isEmpty)
    // Nothing to change.
    stage.adapter.bondsAdded()
    try stage.settle()
    #expect(listing(stage).count == 7)
    // The bond is forgotten.
    bonds.all = []
    stage.adapter.unpair(Self.device)
    // After a pause the radio waits for the end of a connection attempt that there may be.
    try stage.wait(.seconds(3))
    #expect(Array(listing(stage).suffix(5)) == [0x200C, 0x202D, 0x2028] + scan)
    #expect(!stage.adapter.resolves(Self.device))
  }

  @Test func theListIsThereBeforeAnyActivityAfterTheControllerReturns() throws {
    let bonds = StoredBonds()
    let stage = try resolving(privacy: .seconds(900), bonds)
    bonds.all = [bond(stage)]
    stage.adapter.setScan(ScanParameters())
    stage.controller.hangUp()
    try stage.settle()
    try stage.wait(.seconds(1))
    #expect(stage.adapter.state == .on && stage.adapter.resolves(Self.device))
    #expect(listing(stage).suffix(4) == [0x2027, 0x204E, 0x202D, 0x200C])
  }

  @Test("A list that a controller has lost is loaded again; one that reports private addresses then resolves nothing")
  func aControllerThatReportsPrivateAddresses() throws {
    let bonds = StoredBonds()
    let stage = try resolving(bonds)
    bonds.all = [bond(stage)]
    stage.adapter.bondsAdded()
    try stage.settle()
    var random = SystemRandomNumberGenerator()
    let key = try #require(Key128(littleEndian: [UInt8](1...16)))
    let address = DeviceAddress.privateAddress(of: key, using: &random)
    stage.adapter.doesNotResolve(HostStage.phone, at: address)
    stage.adapter.doesNotResolve(Self.device, at: HostStage.phone)
    #expect(stage.adapter.resolves(Self.device))
    // Its firmware may have restarted unnoticed.
    try stage.wait(.seconds(3))
    let count = listing(stage).count
    stage.adapter.doesNotResolve(Self.device, at: address)
    for _ in 1...5 { try stage.wait(.seconds(1)) }
    #expect(listing(stage).dropFirst(count).filter { $0 != 0x200C } == [0x2027, 0x204E, 0x202D])
    #expect(stage.adapter.resolves(Self.device) && stage.adapter.information.quirks.isEmpty)
    stage.adapter.doesNotResolve(Self.device, at: address)
    #expect(!stage.adapter.resolves(Self.device))
    #expect(stage.adapter.information.quirks.map(\.quirk) == [.addressResolution])
    try stage.wait(.seconds(3))
    #expect(listing(stage).filter { $0 != 0x200C }.suffix(2) == [0x202D, 0x2028])
    stage.adapter.bondsAdded()
    try stage.settle()
    #expect(!stage.adapter.resolves(Self.device))
  }

  /// A train is looked for: resolution is not switched.
  @Test func aListThatCannotBeChangedIsTriedAgainOnceAMinute() throws {
    let bonds = StoredBonds()
    let stage = try resolving(bonds) { $0.refused[0x202D] = .commandDisallowed }
    bonds.all = [bond(stage)]
    for _ in 0..<3 {
      stage.adapter.bondsAdded()
      for _ in 0..<5 { try stage.wait(.seconds(1)) }
    }
    let first = listing(stage).filter { $0 == 0x202D }.count
    #expect(first == 3 && !stage.adapter.callsPrivately(Self.device))
    for _ in 0..<100 { try stage.wait(.seconds(1)) }
    #expect(listing(stage).filter { $0 == 0x202D }.count == first + 1)
  }

  @Test func aFullListHasTheDevicesBondedWithLast() throws {
    let bonds = StoredBonds()
    let stage = try resolving(bonds)
    let devices = (1...7).map { DeviceAddress(value: 0xC0FF_EE00_0000 | UInt64($0), kind: .random) }
    // The last one first, as their owner has them. One has the key of another, and one is no identity.
    bonds.all = devices.enumerated().map { number, device in
      var bond = bond(stage, with: number == 2 ? DeviceAddress(value: 0x4000_0000_0001, kind: .random) : device)
      bond.identityResolvingKey?[0] = UInt8(number == 1 ? 0 : number)
      return bond
    }
    stage.adapter.bondsAdded()
    try stage.settle()
    #expect(devices.map { stage.adapter.resolves($0) } == [true, false, false, true, true, true, false])
  }

  @Test func aControllerWithoutThePrivacyModeIsNotAsked() throws {
    let bonds = StoredBonds()
    let stage = try resolving(bonds) { $0.returned[0x1002]?[39] = 0 }
    bonds.all = [bond(stage)]
    stage.adapter.bondsAdded()
    try stage.settle()
    #expect(listing(stage) == [] && !stage.adapter.resolves(Self.device))
  }

  @Test("A link of a resolved device is one to its identity; pairing computes with the address on the air")
  func resolvedDevice() throws {
    let stage = try resolving(StoredBonds())
    let event = LEEnhancedConnectionComplete {
      ($0.handle, $0.role) = (0x40, 1)
      $0.peer = HCIAddress(Self.device)
      $0.peer.type = .randomIdentity
      $0.peerResolvablePrivateAddress = 0x4011_2233_4455
      ($0.interval, $0.supervisionTimeout) = (24, 400)
    }
    #expect(event.resolvedPeer == DeviceAddress(value: 0x4011_2233_4455, kind: .random))
    #expect(event.madeLocal == nil)
    try stage.controller.tell(.leEnhancedConnectionComplete(event))
    try stage.settle()
    #expect(stage.links.first?.peer == Self.device)
    // A device that uses its identity address, and one that is not in the list.
    var identity = event
    identity.peerResolvablePrivateAddress = 0
    #expect(identity.resolvedPeer == nil)
    identity = event
    identity.peer.type = .random
    #expect(identity.resolvedPeer == nil)
  }

  // MARK: - Directed advertising

  /// The type of our address, and the target, with which directed advertising began.
  private func calls(_ stage: HostStage) throws -> [String] {
    try stage.controller.commands.filter { $0.opcode.rawValue == 0x2006 }.map {
      let command = try LESetAdvertisingParameters(decoding: $0)
      return "\(command.ownAddressType.rawValue) to \(command.peer.type.rawValue)"
    }
  }

  private let set = AdvertisingSetID(1)
  private var directed: AdvertisingParameters {
    var parameters = AdvertisingParameters(kind: .directed(Self.device, isHighDuty: false), data: [])
    parameters.callsPrivately = true
    return parameters
  }

  @Test func aDeviceInTheListIsCalledUnderItsIdentityIfThatIsWanted() throws {
    let bonds = StoredBonds()
    let stage = try resolving(bonds)
    bonds.all = [bond(stage)]
    stage.adapter.bondsAdded()
    var parameters = directed
    parameters.callsPrivately = false
    stage.adapter.setAdvertising(set, parameters)
    try stage.settle()
    #expect(try calls(stage) == ["0 to 1"] && stage.adapter.callsPrivately(Self.device))
  }

  @Test(arguments: [true, false]) func aDeviceInTheListIsCalledUnderAPrivateAddress(_ isPrivate: Bool) throws {
    let bonds = StoredBonds()
    let stage = try resolving(privacy: isPrivate ? .seconds(900) : nil, bonds)
    stage.adapter.setAdvertising(set, directed)
    try stage.settle()
    let (own, made) = isPrivate ? (1, 3) : (0, 2)
    #expect(try calls(stage) == ["\(own) to 1"])
    bonds.all = [bond(stage)]
    stage.adapter.bondsAdded()
    #expect(stage.adapter.callsPrivately(Self.device) && !stage.adapter.callsPrivately(HostStage.phone))
    try stage.settle()
    #expect(try calls(stage) == ["\(own) to 1", "\(made) to 1"])
    // Also when the controller returns, and not without the bond.
    stage.controller.hangUp()
    try stage.settle()
    try stage.wait(.seconds(1))
    #expect(try calls(stage).last == "\(made) to 1")
    bonds.all = []
    stage.adapter.bondsAdded()
    try stage.wait(.seconds(3))
    #expect(try calls(stage).last == "\(own) to 1")
    #expect(!stage.adapter.callsPrivately(Self.device))
  }

  @Test func aControllerThatDoesNotResolveCallsTheIdentity() throws {
    let bonds = StoredBonds()
    let stage = try resolving(bonds) { $0.returned[0x1002]?[39] = 0 }
    bonds.all = [bond(stage)]
    stage.adapter.bondsAdded()
    stage.adapter.setAdvertising(set, directed)
    try stage.settle()
    #expect(try calls(stage) == ["0 to 1"] && !stage.adapter.callsPrivately(Self.device))
  }
}
