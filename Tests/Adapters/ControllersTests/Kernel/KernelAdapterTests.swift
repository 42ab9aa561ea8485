import Adapter
@testable import Controllers
import Bluetooth
import Glibc
import HCI
import Testing

/// The adapter as a whole, on a scripted kernel.
struct KernelAdapterTests {
  private let phone = DeviceAddress(value: 0xC011_2233_4455, kind: .random)

  @Test("the controller is set up over mgmt, then over HCI, and is on")
  func comesOn() throws {
    let stage = try KernelStage.on()
    #expect(stage.adapter.state == .on)
    #expect(stage.adapter.information.address == ScriptedKernel.address)
    #expect(stage.adapter.information.company == 0x05F1 && stage.adapter.information.version == 12)
    #expect(stage.adapter.information.features?.names.isEmpty == false)
    let codes = stage.kernel.commands.map(\.code)
    #expect(codes.starts(with: [ReadIndexList.opcode, ReadControllerInformation.opcode]))
    #expect(codes.contains(SetIOCapability.opcode) && codes.contains(LoadLongTermKeys.opcode))
    #expect(stage.kernel.controllerCommands.first?.opcode == ReadLocalVersionInformation.opcode)
    #expect(stage.kernel.listens == 1)
  }

  @Test("bluetoothd has the controller: nothing is changed, and the problem says whose it is")
  func rival() throws {
    let stage = try KernelStage()
    stage.kernel.rival = 77
    stage.adapter.start()
    try stage.settle()
    guard case .failed(let problem) = stage.adapter.state else { return #expect(Bool(false), "\(stage.adapter.state)") }
    #expect(problem.kind == .inUse && problem.message.contains("77"))
    #expect(!stage.kernel.commands.map(\.code).contains(SetPowered.opcode) && stage.kernel.listens == 0)
  }

  @Test("a device's link is announced once the kernel offers it, carries packets, and ends with the reason")
  func link() throws {
    let stage = try KernelStage.on()
    try stage.kernel.connected(phone, 0x40)
    try stage.settle()
    #expect(stage.links.isEmpty)
    try stage.kernel.offer(phone, 0x40)
    try stage.wait(.milliseconds(200))
    let link = try #require(stage.links.first)
    #expect(link.peer == phone && link.role == .peripheral)
    var received: [[UInt8]] = []
    var ends: [BluetoothError] = []
    link.onEvent = { event in
      switch event {
      case .received(let packet): received.append(packet)
      case .ended(let error): ends.append(error)
      default: break
      }
    }
    _ = try stage.kernel.links[0x40]?.write([0x0A, 1, 0])
    try stage.settle()
    #expect(received == [[0x0A, 1, 0]])
    try stage.kernel.disconnected(0x40, 0x13)
    try stage.wait(.seconds(2))
    #expect(ends.map(\.code) == [0x13])
  }

  @Test("a link that ended unnoticed is not mistaken for the next one with its handle")
  func handleUsedAgain() throws {
    let stage = try KernelStage.on()
    for number in 1...2 {
      try stage.kernel.connected(phone, 0x40)
      try stage.kernel.offer(phone, 0x40)
      try stage.wait(.milliseconds(200))
      #expect(stage.links.count == number)
    }
    #expect(stage.links[0] !== stage.links[1])
  }

  @Test(
    "a link that goes to another program is ended within a second, and the next one comes here",
    arguments: [true, false])
  func stolen(asks: Bool) throws {
    let stage = try KernelStage.on { $0.features = asks ? [.peripheralInitiatedFeaturesExchange] : [] }
    stage.kernel.usersOfChannels = [65534]
    try stage.kernel.connected(phone, 0x40)
    try stage.wait(.milliseconds(900))
    #expect(stage.kernel.listens == 1)
    if asks {
      try stage.kernel.exchangedFeatures(0x40)
      try stage.wait(.milliseconds(900))
      #expect(stage.kernel.listens == 1)
    }
    try stage.wait(.milliseconds(200))
    #expect(stage.kernel.listens == 2)
    #expect(stage.kernel.controllerCommands.last?.opcode == Disconnect.opcode)
    #expect(stage.log.all.contains { $0.contains("another program") } && "\(stage.log.metadata)".contains("65534"))
  }

  @Test("a short link that went to another program: the next one comes here")
  func stolenShort() throws {
    let stage = try KernelStage.on()
    try stage.kernel.connected(phone, 0x40)
    try stage.kernel.exchangedFeatures(0x40)
    try stage.settle()
    try stage.kernel.disconnected(0x40, 0x13)
    try stage.settle()
    #expect(stage.kernel.listens == 2 && stage.links.isEmpty)
    // A link that ends before it can be offered proves nothing.
    try stage.kernel.connected(phone, 0x41)
    try stage.kernel.disconnected(0x41, 0x3E)
    try stage.settle()
    #expect(stage.kernel.listens == 2)
  }

  @Test("a link that the kernel offered is expected no longer")
  func offeredInTime() throws {
    let stage = try KernelStage.on()
    try stage.kernel.connected(phone, 0x40)
    try stage.kernel.exchangedFeatures(0x40)
    try stage.kernel.offer(phone, 0x40)
    try stage.wait(.milliseconds(200))
    #expect(stage.links.count == 1)
    try stage.wait(.seconds(30))
    #expect(stage.kernel.listens == 1)
  }

  @Test("a link that waits for a free descriptor was not taken by another program, and is announced later")
  func descriptorsUsedUp() throws {
    let stage = try KernelStage.on()
    stage.kernel.acceptError = EMFILE
    try stage.kernel.connected(phone, 0x40)
    try stage.kernel.exchangedFeatures(0x40)
    try stage.kernel.offer(phone, 0x40)
    for _ in 1...30 { try stage.wait(.milliseconds(100)) }
    #expect(stage.kernel.listens == 1 && stage.links.isEmpty)
    #expect(stage.kernel.controllerCommands.last?.opcode != Disconnect.opcode)
    #expect(!stage.log.all.contains { $0.contains("another program") })
    stage.kernel.acceptError = nil
    try stage.wait(.seconds(1))
    #expect(stage.links.count == 1)
  }

  @Test("keys are loaded of identity addresses alone; a refusal of the kernel is logged")
  func keys() throws {
    let peers = [phone, DeviceAddress(value: 0x4011_2233_4455, kind: .random)]
    let stage = try KernelStage.on { _ in }
    var bonds = peers.map { Bond(local: ScriptedKernel.address, peer: $0) }
    for index in bonds.indices {
      bonds[index].add(
        LongTermKey(
          value: [UInt8](repeating: 5, count: 16), size: 16, diversifier: 0, random: 1, isAuthenticated: false,
          isSecureConnections: true, role: .central))
    }
    stage.bonds.all = bonds
    stage.adapter.bondsAdded()
    try stage.settle()
    let loaded = try #require(stage.kernel.commands.last { $0.code == LoadLongTermKeys.opcode })
    #expect(try LoadLongTermKeys(decoding: loaded.parameters).keys.map(\.device) == [ManagementAddress(phone)])
    #expect(stage.log.all.isEmpty)
    stage.kernel.refused = [LoadLongTermKeys.opcode]
    bonds[0].identityResolvingKey = [UInt8](repeating: 9, count: 16)
    stage.bonds.all = bonds
    stage.adapter.bondsAdded()
    try stage.settle()
    #expect(stage.log.all.contains { $0.contains("refuses the keys") })
  }

  @Test("bonds that are added while the controller is brought into use are told to the kernel before it has links")
  func addedBonds() throws {
    let stage = try KernelStage()
    stage.adapter.start()
    func loads() -> [ManagementPacket] { stage.kernel.commands.filter { $0.code == LoadLongTermKeys.opcode } }
    for _ in 0..<100 where loads().isEmpty {
      _ = try stage.loop.poll()
      _ = try stage.kernel.answer()
    }
    #expect(stage.adapter.state == .starting && loads().count == 1)
    var bond = Bond(local: ScriptedKernel.address, peer: phone)
    bond.add(
      LongTermKey(
        value: [UInt8](repeating: 5, count: 16), size: 16, diversifier: 0, random: 1, isAuthenticated: false,
        isSecureConnections: true, role: .central))
    stage.bonds.all = [bond]
    stage.adapter.bondsAdded()
    try stage.settle()
    #expect(stage.adapter.state == .on && loads().count == 2)
    #expect(try LoadLongTermKeys(decoding: try #require(loads().last).parameters).keys.count == 1)
  }

  /// The link of a phone.
  private func connected(_ stage: KernelStage) throws -> any Link {
    try stage.kernel.connected(phone, 0x40)
    try stage.kernel.offer(phone, 0x40)
    try stage.wait(.milliseconds(200))
    return try #require(stage.links.first)
  }

  @Test("a link that has ended, though nobody has heard it, gets no channel and no pairing: the kernel would connect")
  func endUnheard() throws {
    let stage = try KernelStage.on()
    let link = try connected(stage)
    stage.kernel.known = []
    var errors: [BluetoothError?] = []
    link.openChannel(to: 0x80, ChannelParameters()) { if case .failure(let error) = $0 { errors.append(error) } }
    link.raiseSecurity(to: 2, as: .none, usesOwnData: false) { errors.append($0) }
    try stage.settle()
    #expect(errors.map { $0?.name } == ["notConnected", "notConnected"])
    #expect(stage.kernel.opening.isEmpty && !stage.kernel.commands.map(\.code).contains(PairDevice.opcode))
  }

  /// Opens a channel, and reports the request for it: LE_CREDIT_BASED_CONNECTION_REQ (Core 5.4, Vol 3, Part A, 4.22).
  private func open(on link: any Link, _ stage: KernelStage, _ failed: @escaping (BluetoothError) -> Void) throws {
    link.openChannel(to: 0x80, ChannelParameters()) { if case .failure(let error) = $0 { failed(error) } }
    try stage.settle()
    try stage.kernel.signal(0x40, isOurs: true, [0x14, 7, 10, 0, 0x80, 0, 0x41, 0, 0, 2, 247, 0, 8, 0])
    try stage.settle()
  }

  /// A bond with a key for links on which we have this role.
  private func bond(for role: LinkRole) -> Bond {
    var bond = Bond(local: ScriptedKernel.address, peer: phone)
    bond.add(
      LongTermKey(
        value: [UInt8](repeating: 5, count: 16), size: 16, diversifier: 1, random: 1, isAuthenticated: false,
        isSecureConnections: false, role: role))
    return bond
  }

  /// The device refuses it: LE_CREDIT_BASED_CONNECTION_RSP (4.23).
  private func refuse(_ result: UInt8, _ stage: KernelStage) throws {
    try stage.kernel.signal(0x40, isOurs: false, [0x15, 7, 10, 0, 0, 0, 0, 2, 247, 0, 0, 0, result, 0])
    try stage.settle()
  }

  @Test("a bond, a pairing that a program asked for and one that the device began outlast a channel that is refused")
  func channelSparesPairings() throws {
    let cases: [(KernelStage, any Link) throws -> Void] = [
      { [self] stage, _ in stage.bonds.all = [bond(for: .peripheral)] },
      { _, link in link.raiseSecurity(to: 2, as: .none, usesOwnData: false) { _ in } },
      { stage, _ in try stage.kernel.tell(UserConfirmationRequest { $0.device = ManagementAddress(phone) }) },
    ]
    for prepare in cases {
      let stage = try KernelStage.on()
      let link = try connected(stage)
      try prepare(stage, link)
      try stage.settle()
      var errors: [BluetoothError] = []
      try open(on: link, stage) { errors.append($0) }
      try refuse(0x08, stage)
      #expect(errors.isEmpty && !stage.kernel.commands.map(\.code).contains(UserConfirmationNegativeReply.opcode))
    }
  }

  @Test(
    "a device that wants more protection for a channel gets no pairing that nobody asked for, and keeps its bond",
    arguments: [UInt8(0x05), 0x08], [false, true])
  func channelWantsSecurity(result: UInt8, hasBond: Bool) throws {
    let stage = try KernelStage.on()
    // With a key for the other role the kernel cannot encrypt this link.
    stage.bonds.all = hasBond ? [bond(for: .central)] : []
    var errors: [BluetoothError] = []
    try open(on: try connected(stage), stage) { errors.append($0) }
    func codes() -> [UInt16] { stage.kernel.commands.map(\.code) }
    #expect(errors.isEmpty && !codes().contains(UserConfirmationNegativeReply.opcode))
    try refuse(result, stage)
    #expect(codes().last == UserConfirmationNegativeReply.opcode && !codes().contains(UnpairDevice.opcode))
    #expect(errors.count == 1 && errors.first?.message.contains("link: ask with a higher") == true)
    #expect(stage.kernel.links[0x40] != nil, "the link stays")
  }

  @Test("the kernel's refusal to encrypt a link is no sign of lost keys")
  func refusedEncryption() throws {
    let stage = try KernelStage.on()
    stage.bonds.all = [bond(for: .peripheral)]
    let link = try connected(stage)
    var errors: [BluetoothError?] = []
    // The socket of the test does not have the option.
    link.raiseSecurity(to: 2, as: .none, usesOwnData: false) { errors.append($0) }
    try stage.settle()
    #expect(errors.map { $0?.name } == ["connectionFailed"])
  }

  @Test("bled ends without a delay when its adapter has no link and does nothing")
  func stopWhenIdle() throws {
    let stage = try KernelStage.on()
    var stops = 0
    stage.adapter.stop { stops += 1 }
    try stage.settle()
    #expect(stops == 1)
    try stage.wait(.seconds(10))
    #expect(stops == 1)
  }

  @Test("the end of a link ends its pairing and the channels that are being opened")
  func endMeanwhile() throws {
    let stage = try KernelStage.on()
    let link = try connected(stage)
    var errors: [BluetoothError?] = []
    link.openChannel(to: 0x80, ChannelParameters()) { if case .failure(let error) = $0 { errors.append(error) } }
    link.raiseSecurity(to: 2, as: .none, usesOwnData: false) { errors.append($0) }
    try stage.settle()
    #expect(errors.isEmpty && stage.kernel.opening.count == 1)
    #expect(stage.kernel.commands.map(\.code).contains(PairDevice.opcode))
    try stage.kernel.disconnected(0x40, 0x08)
    try stage.wait(.seconds(2))
    #expect(errors.count == 2 && !errors.contains(nil))
    #expect(stage.kernel.commands.map(\.code).contains(CancelPairDevice.opcode))
    var octets = [UInt8](repeating: 0, count: 8192)
    while try stage.kernel.opening[0].read(into: &octets) ?? 0 > 0 {}
    #expect(try stage.kernel.opening[0].read(into: &octets) == 0, "its socket is closed")
  }
}
