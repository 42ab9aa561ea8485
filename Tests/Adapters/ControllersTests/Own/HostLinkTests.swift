import Adapter
import Bluetooth
import BluetoothCrypto
import HCI
import Testing

@testable import Host
@testable import Controllers

/// The links of an adapter over a scripted controller with late or lost events.
@Suite struct HostLinkTests {
  private let handle: ConnectionHandle = 0x40

  /// We connect to the phone, which was not received yet.
  private func initiate(_ stage: HostStage) throws {
    stage.adapter.connect(to: HostStage.phone, ConnectionParameters())
    try stage.settle()
    try stage.controller.tell(HostStage.connected(handle, as: .central))
    try stage.settle()
  }

  /// Read Remote Features gets its status; its event is missing or arrives, or the command is refused.
  @Test(arguments: [nil, HCIErrorCode.unsupportedRemoteFeature, .commandDisallowed])
  func aLinkIsAnnouncedBeforeItsDeviceWasHeard(_ refusal: HCIErrorCode?) throws {
    let stage = try HostStage(privacy: .seconds(900)) { if let refusal { $0.refused[0x2016] = refusal } }
    let first = stage.adapter.information.privateAddress
    try initiate(stage)
    #expect(stage.controller.commands.contains { $0.opcode == 0x2016 })
    let link = try #require(stage.links.first)
    try stage.wait(.seconds(900))
    #expect(stage.adapter.information.privateAddress != first && stage.ends.isEmpty)
    link.send([0x02, 23, 0])
    try stage.settle()
    #expect(stage.controller.data.map(\.handle) == [handle], "its packets wait for nothing")
  }

  /// Its user connects again.
  @Test func aLinkThatWasNeverThereEndsSo() throws {
    let stage = try HostStage()
    try initiate(stage)
    guard case .disconnectionComplete(var event) = HostStage.disconnected(handle) else { return }
    event.reason = HCIStatus(.connectionFailedToBeEstablished)
    try stage.controller.tell(.disconnectionComplete(event))
    try stage.settle()
    #expect(stage.ends.map(\.code) == [0x3E] && stage.ends.map(\.domain) == [.hci])
    stage.adapter.connect(to: HostStage.phone, ConnectionParameters())
    try stage.settle()
    #expect(stage.controller.commands.count { $0.opcode == LECreateConnection.opcode } == 2)
  }

  /// For our role and the request of the device's controller: the reply, with the longest granted interval.
  @Test(
    arguments: [
      (true, [24, 40, 0], 0x2020, 40), (true, [800, 3200, 0], 0x2020, 1600), (true, [3200, 3200, 0], 0x2021, 0x3B),
      (true, [400, 400, 9], 0x2021, 0x3B), (false, [3200, 3200, 0], 0x2020, 3200), (true, [5, 5, 0], 0x2021, 0x3B),
    ] as [(Bool, [UInt16], UInt16, UInt16)])
  func aDeviceThatWantsToBeDeafGetsNoMoreThanThePolicy(
    _ isCentral: Bool, _ asked: [UInt16], _ opcode: UInt16, _ value: UInt16
  ) throws {
    let stage = try HostStage()
    stage.adapter.setLongestInterval(.seconds(2))
    if isCentral { try initiate(stage) } else { try stage.controller.tell(HostStage.connected(handle)) }
    try stage.settle()
    try stage.controller.tell(
      .leRemoteConnectionParameterRequest(
        LERemoteConnectionParameterRequest {
          $0.handle = self.handle
          ($0.intervalMin, $0.intervalMax, $0.latency, $0.supervisionTimeout) = (asked[0], asked[1], asked[2], 3200)
        }))
    try stage.settle()
    let reply = try #require(stage.controller.commands.last)
    #expect(reply.opcode.rawValue == opcode)
    let octets = opcode == 0x2020 ? reply.parameters.dropFirst(4).prefix(2) : reply.parameters.dropFirst(2).prefix(1)
    #expect(octets.reversed().reduce(0) { $0 << 8 | UInt16($1) } == value)
  }

  @Test("A device gets the part of its request that agrees with the wish of programs, or a refusal (radio F5)")
  func wishes() throws {
    let stage = try HostStage()
    try initiate(stage)
    let link = try #require(stage.links.first)
    let wish = ConnectionParameters(interval: .milliseconds(15)...(.milliseconds(30)))
    for (wish, asked, longest) in [
      (wish, [6, 3200], 24), (wish, [40, 80], nil), (nil, [40, 80], 80),
    ] as [(ConnectionParameters?, [UInt16], UInt16?)] {
      link.setWish(wish)
      try stage.controller.tell(
        .leRemoteConnectionParameterRequest(
          LERemoteConnectionParameterRequest {
            $0.handle = self.handle
            ($0.intervalMin, $0.intervalMax, $0.latency, $0.supervisionTimeout) = (asked[0], asked[1], 0, 3200)
          }))
      try stage.settle()
      let reply = try #require(stage.controller.commands.last)
      #expect(reply.opcode.rawValue == (longest == nil ? 0x2021 : 0x2020))
      let granted = reply.parameters.dropFirst(4).prefix(2).reversed().reduce(0) { $0 << 8 | UInt16($1) }
      if let longest { #expect(granted == longest) }
    }
  }

  /// A controller with few buffers: one is left for a link only while one may come.
  @Test func anOnlyLinkUsesAllBuffers() throws {
    let stage = try HostStage { $0.returned[0x2002] = [27, 0, 2] }
    try initiate(stage)
    let link = try #require(stage.links.first)
    func packets(_ count: Int) throws -> Int {
      let before = stage.controller.data.count
      for _ in 0..<count { link.send([0x52, 3, 0, 1]) }
      try stage.settle()
      return stage.controller.data.count - before
    }
    #expect(try packets(3) == 2)
    try stage.controller.tell(
      .numberOfCompletedPackets(
        NumberOfCompletedPackets {
          $0.links = [
            NumberOfCompletedPackets.Link { ($0.handle, $0.packets) = (self.handle, 2) }
          ]
        }))
    try stage.settle()
    #expect(stage.controller.data.count == 3)
    // Another device is connected to, or connects to us.
    let other = DeviceAddress(value: 0xC0FF_EE00_0002, kind: .random)
    stage.adapter.connect(to: other, ConnectionParameters())
    #expect(try packets(1) == 0)
    stage.adapter.cancelConnect(to: other)
    #expect(try packets(1) == 1)
  }

  /// The controller's reason for the end of a link that could not be encrypted, and the reported one.
  private static let reasons: [(HCIErrorCode, HCIErrorCode)] = [
    (.terminatedByLocalHost, .pinOrKeyMissing), (.unknownConnectionIdentifier, .pinOrKeyMissing),
    (.connectionTimeout, .connectionTimeout),
  ]

  /// As with the kernel's adapters: programs with CoreBluetooth learn that the peer removed its pairing information.
  @Test(arguments: reasons)
  func aLinkWhoseDeviceLostItsKeysEnds(_ reason: HCIErrorCode, _ told: HCIErrorCode) throws {
    let stage = try HostStage()
    let bonds = StoredBonds()
    var bond = Bond(local: stage.adapter.information.address, peer: HostStage.phone)
    bond.add(
      LongTermKey(
        value: Key128(5).littleEndian, size: 16, diversifier: 0, random: 0, isAuthenticated: false,
        isSecureConnections: true, role: .central))
    bonds.all = [bond]
    stage.adapter.setBonds(bonds)
    try initiate(stage)
    var errors: [BluetoothError?] = []
    let link = try #require(stage.links.first)
    link.raiseSecurity(to: 2, as: .none, usesOwnData: false) { errors.append($0) }
    try stage.settle()
    #expect(stage.controller.commands.last?.opcode == LEEnableEncryption.opcode)
    try stage.controller.tell(HostStage.encrypted(handle, .pinOrKeyMissing))
    try stage.settle()
    #expect(errors.count == 1 && errors[0]?.message.contains("do not share keys any more") == true)
    let command = try Disconnect(decoding: try #require(stage.controller.commands.last))
    #expect((command.handle, command.reason) == (handle, HCIStatus(.authenticationFailure)))
    try stage.controller.tell(HostStage.disconnected(handle, reason))
    try stage.settle()
    #expect(stage.ends == [HCIStatus(told).error()])
  }

  /// As on the simulated adapter: programs with CoreBluetooth learn that the encryption timed out.
  @Test("a link on which pairing takes too long ends with Authentication Failure, here and at the device")
  func aPairingThatTakesTooLong() throws {
    let stage = try HostStage()
    try initiate(stage)
    let link = try #require(stage.links.first)
    link.raiseSecurity(to: 2, as: .none, usesOwnData: false) { _ in }
    try stage.settle()
    // The Pairing Request has arrived.
    let sent = NumberOfCompletedPackets.Link { ($0.handle, $0.packets) = (handle, 1) }
    try stage.controller.tell(.numberOfCompletedPackets(NumberOfCompletedPackets { $0.links = [sent] }))
    try stage.settle()
    try stage.wait(.seconds(30))
    let command = try Disconnect(decoding: try #require(stage.controller.commands.last))
    #expect((command.handle, command.reason) == (handle, HCIStatus(.authenticationFailure)))
    try stage.controller.tell(HostStage.disconnected(handle, .terminatedByLocalHost))
    try stage.settle()
    #expect(stage.ends == [HCIStatus(.authenticationFailure).error()])
  }

  /// A stage that advertises with its own address in a set, and the handle of the set.
  /// - Parameter isPublic: true if the controller has a public address; else it has a static random one.
  private func advertising(isPublic: Bool = true) throws -> (HostStage, set: UInt8) {
    let stage = try HostStage {
      if !isPublic { $0.returned[0x1009] = [0, 0, 0, 0, 0, 0] }
      $0.returned[0x2002] = [251, 0, 16]
      $0.returned[0x2003] = [0, 0x10, 0, 0, 0, 0, 0, 0]
      $0.returned[0x203B] = [4]
    }
    var parameters = AdvertisingParameters(data: [])
    parameters.ownAddress = DeviceAddress(value: 0xC0AA_BBCC_DDEE, kind: .random)
    stage.adapter.setAdvertising(AdvertisingSetID(1), parameters)
    try stage.settle()
    let command = try #require(stage.controller.commands.last { $0.opcode == LESetAdvertisingSetRandomAddress.opcode })
    return (stage, try LESetAdvertisingSetRandomAddress(decoding: command).advertisingHandle)
  }

  /// The device sends a Pairing Request.
  private func requestPairing(_ stage: HostStage) throws {
    try stage.controller.send([
      .acl(
        ACLDataPacket {
          $0.handle = handle
          $0.boundary = 2
          $0.data = [7, 0, 6, 0, 0x01, 3, 0, 1, 16, 0, 0]
        })
    ])
    try stage.settle()
  }

  /// The number of Security Manager packets received by the device.
  private func answers(_ stage: HostStage) -> Int { stage.controller.data.count { $0.data.dropFirst(2).first == 6 } }

  @Test(arguments: [true, false], [true, false])
  func aPairingWaitsUntilItIsKnownToWhichAddressTheDeviceConnected(isBeforeTheLink: Bool, isPublic: Bool) throws {
    let (stage, set) = try advertising(isPublic: isPublic)
    if isBeforeTheLink { try requestPairing(stage) }
    try stage.controller.tell(HostStage.connected(handle))
    try stage.settle()
    #expect(stage.links.count == 1)
    if !isBeforeTheLink { try requestPairing(stage) }
    #expect(answers(stage) == 0)
    try stage.controller.tell(
      .leAdvertisingSetTerminated(
        LEAdvertisingSetTerminated {
          $0.advertisingHandle = set
          $0.handle = handle
        }))
    try stage.settle()
    #expect(answers(stage) == 1)
  }

  /// A packet of the device's Security Manager.
  /// - Returns: the last one of ours.
  private func exchange(_ packet: [UInt8], _ stage: HostStage) throws -> [UInt8] {
    let frame = L2CAPFrame(channel: L2CAPFrame.Fixed.securityManager, payload: packet)
    try stage.controller.send([
      .acl(
        ACLDataPacket {
          $0.handle = handle
          $0.boundary = 2
          $0.data = frame.octets()[...]
        })
    ])
    try stage.settle()
    for case .pairing(_, .question(let id, .consent)) in stage.events { stage.adapter.answer(id, .accept) }
    try stage.settle()
    return Array(try #require(stage.controller.data.last?.data.dropFirst(4)))
  }

  /// An ASUS BT500 reports the end of a set before the link, in reverse of Core 5.4 (google/bumble#502).
  @Test(arguments: [true, false]) func theEndOfASetMayComeBeforeItsLink(isOwn: Bool) throws {
    let (stage, set) = try advertising()
    stage.adapter.setPairing(PairingSettings(acceptsDevices: true))
    try stage.controller.tell(
      .leAdvertisingSetTerminated(
        LEAdvertisingSetTerminated {
          // Another set has the address of the controller.
          $0.advertisingHandle = isOwn ? set : set + 1
          $0.handle = handle
        }), HostStage.connected(handle))
    try stage.settle()
    let request: [UInt8] = [0x01, 3, 0, 1, 16, 0, 0]
    let response = try exchange(request, stage)
    #expect(response.first == 0x02, "the address is known: nothing is waited for")
    let nonce = Key128(1)
    let responder =
      isOwn ? DeviceAddress(value: 0xC0AA_BBCC_DDEE, kind: .random) : stage.adapter.information.address
    let confirm = try #require(
      LegacyPairing.c1(
        k: .zero, r: nonce, request: request, response: response, initiator: HostStage.phone, responder: responder))
    #expect(try exchange([0x03] + confirm.littleEndian, stage).first == 0x03)
    // A Pairing Failed if the check value was made for another address.
    #expect(try exchange([0x04] + nonce.littleEndian, stage).first == 0x04)
  }

  @Test func aPairingWaitsForTheEndOfASetOnlyForAWhile() throws {
    let (stage, _) = try advertising()
    try stage.controller.tell(HostStage.connected(handle))
    try stage.settle()
    try requestPairing(stage)
    try stage.wait(.milliseconds(999))
    #expect(answers(stage) == 0)
    try stage.wait(.milliseconds(1))
    #expect(answers(stage) == 1)
    // From then on nothing is held.
    try requestPairing(stage)
    #expect(answers(stage) == 2)
  }

  @Test func eventsOfALinkComeBeforeItsEnd() throws {
    let stage = try HostStage()
    try stage.controller.tell(HostStage.connected(handle))
    try stage.settle()
    let link = try #require(stage.links.first)
    var before: Int?
    link.onEvent = { event in
      guard case .ended = event else { return }
      before = stage.events.count { if case .pairing(_, .keysLost(theirs: false)) = $0 { true } else { false } }
    }
    try stage.controller.tell(
      .leLongTermKeyRequest(LELongTermKeyRequest { $0.handle = handle }), HostStage.disconnected(handle))
    try stage.settle()
    #expect(before == 1)
  }

  /// The controller is Zephyr's, and has flow control to the host.
  @Test func aLinkThatIsNotReadKeepsTheRoomOfItsPackets() throws {
    let stage = try HostStage {
      $0.returned[0x1001] = [13, 0, 0, 13, 0xF1, 0x05, 0, 0]
      $0.returned[0x1002] = [UInt8](repeating: 0, count: 10) + [0xE0] + [UInt8](repeating: 0, count: 53)
    }
    func told() -> [[UInt8]] {
      stage.controller.commands.filter { $0.opcode == HostNumberOfCompletedPackets.opcode }.map(\.parameters)
    }
    try stage.controller.tell(HostStage.connected(0x40))
    try stage.settle()
    let link = try #require(stage.links.first)
    var received = 0
    link.onEvent = { if case .received = $0 { received += 1 } }
    let frame = L2CAPFrame(channel: L2CAPFrame.Fixed.attribute, payload: [0x1B, 3, 0, 1])
    let packet = HCIPacket.acl(
      ACLDataPacket {
        $0.handle = 0x40
        $0.boundary = 2
        $0.data = frame.octets()[...]
      })
    try stage.controller.send(Array(repeating: packet, count: 16))
    try stage.settle()
    #expect(received == 16 && told() == [[1, 0x40, 0, 16, 0]])
    link.isReading = false
    try stage.controller.send(Array(repeating: packet, count: 64))
    try stage.settle()
    #expect(received == 16 && told().count == 1)
    // A controller without any room could report nothing else.
    try stage.wait(.milliseconds(249))
    #expect(told().count == 1)
    try stage.wait(.milliseconds(1))
    #expect(told().dropFirst() == [[1, 0x40, 0, 4, 0]])
    link.isReading = true
    try stage.settle()
    #expect(received == 80 && told().dropFirst(2) == [[1, 0x40, 0, 60, 0]])
    // A link that we end keeps no room; a packet of no link uses none.
    link.isReading = false
    try stage.controller.send(Array(repeating: packet, count: 20))
    try stage.settle()
    link.disconnect()
    try stage.settle()
    #expect(received == 80 && told().dropFirst(3) == [[1, 0x40, 0, 20, 0]])
  }
}
