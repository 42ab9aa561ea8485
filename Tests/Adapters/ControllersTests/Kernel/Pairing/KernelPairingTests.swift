import Adapter
import Bluetooth
import HCI
import Testing

@testable import Controllers

/// Pairing on a scripted kernel: `KernelPairing`, `SecurityRaises` and `OutOfBandPairing`.
struct KernelPairingTests {
  private let phone = DeviceAddress(value: 0xC011_2233_4455, kind: .random)

  private func connected(_ stage: KernelStage) throws -> any Link {
    try stage.kernel.connected(phone, 0x40)
    try stage.kernel.offer(phone, 0x40)
    try stage.wait(.milliseconds(200))
    return try #require(stage.links.first)
  }

  private func answer(_ status: UInt8, _ opcode: UInt16, _ returned: [UInt8] = []) -> ManagementCommandComplete {
    ManagementCommandComplete {
      $0.opcode = opcode
      $0.status = ManagementStatus(rawValue: status)
      $0.returnParameters = returned
    }
  }

  /// The pairing commands that the kernel got, from the first Pair Device on.
  private func commands(_ stage: KernelStage) -> [UInt16] {
    stage.kernel.commands.map(\.code).drop { $0 != PairDevice.opcode }.filter { $0 != SetBondable.opcode }
  }

  @Test("a question of a device that has just connected comes after its link, and is answered once")
  func question() throws {
    let stage = try KernelStage.on()
    try stage.kernel.connected(phone, 0x40)
    try stage.kernel.offer(phone, 0x40)
    try stage.kernel.tell(
      UserConfirmationRequest {
        $0.device = ManagementAddress(phone)
        $0.value = 123_456
      })
    try stage.wait(.milliseconds(200))
    let told = stage.events.compactMap { event -> String? in
      switch event {
      case .connected: "link"
      case .pairing(phone, .question(_, .comparison(123_456))): "question"
      case .pairing: "other"
      default: nil
      }
    }
    #expect(told == ["link", "question"])
    let question = try #require(stage.questions.last)
    stage.adapter.answer(question, .accept)
    stage.adapter.answer(question, .refuse)
    try stage.settle()
    #expect(stage.kernel.commands.last?.code == UserConfirmationReply.opcode)
    #expect(!stage.kernel.commands.map(\.code).contains(UserConfirmationNegativeReply.opcode))
  }

  @Test("a question is void when its link has ended")
  func questionOfEndedLink() throws {
    let stage = try KernelStage.on()
    _ = try connected(stage)
    try stage.kernel.tell(UserPasskeyRequest { $0.device = ManagementAddress(phone) })
    try stage.settle()
    try stage.kernel.disconnected(0x40, 0x13)
    try stage.wait(.seconds(2))
    stage.adapter.answer(try #require(stage.questions.last), .passkey(1))
    try stage.settle()
    #expect(!stage.kernel.commands.map(\.code).contains(UserPasskeyReply.opcode))
  }

  @Test("the answer to an earlier question is not that to the next")
  func lateAnswer() throws {
    let stage = try KernelStage.on()
    _ = try connected(stage)
    for _ in 1...2 { try stage.kernel.tell(UserPasskeyRequest { $0.device = ManagementAddress(phone) }) }
    try stage.settle()
    #expect(stage.questions.count == 2)
    for (question, passkey) in zip(stage.questions, [1, 2] as [UInt32]) {
      stage.adapter.answer(question, .passkey(passkey))
    }
    try stage.settle()
    let replies = stage.kernel.commands.filter { $0.code == UserPasskeyReply.opcode }
    #expect(try replies.map { try UserPasskeyReply(decoding: $0.parameters).passkey } == [2])
  }

  @Test("keys that the kernel has of an earlier link are removed, once, and the pairing begins anew")
  func alreadyPaired() throws {
    let stage = try KernelStage.on()
    let link = try connected(stage)
    var errors: [BluetoothError?] = []
    for level in [2, 3] { link.raiseSecurity(to: level, as: .displayYesNo, usesOwnData: false) { errors.append($0) } }
    try stage.settle()
    #expect(commands(stage) == [PairDevice.opcode])
    for _ in 1...2 {
      #expect(errors.isEmpty)
      try stage.kernel.tell(answer(0x13, PairDevice.opcode, ManagementAddress(phone).octets))
      try stage.settle()
    }
    #expect(commands(stage) == [PairDevice.opcode, UnpairDevice.opcode, PairDevice.opcode])
    #expect(errors.map { $0?.name } == ["pairingFailed", "pairingFailed"])
    #expect(stage.kernel.commands.last { $0.code == SetBondable.opcode }?.parameters == [0])
  }

  @Test("a pairing that reaches no protection fails, and one that takes too long")
  func noProtection() throws {
    let stage = try KernelStage.on()
    let link = try connected(stage)
    var errors: [BluetoothError?] = []
    link.raiseSecurity(to: 2, as: .none, usesOwnData: false) { errors.append($0) }
    try stage.settle()
    #expect(stage.kernel.commands.last { $0.code == SetBondable.opcode }?.parameters == [1])
    try stage.kernel.tell(answer(0, PairDevice.opcode, ManagementAddress(phone).octets))
    try stage.settle()
    #expect(errors.count == 1 && errors.first??.message.contains("cannot reach this security level") == true)
    link.raiseSecurity(to: 2, as: .none, usesOwnData: false) { errors.append($0) }
    try stage.wait(.seconds(34))
    #expect(errors.count == 1)
    try stage.wait(.seconds(2))
    #expect(errors.count == 2 && errors.last??.message.contains("in time") == true)
  }

  @Test(
    "a link that could not be encrypted ends with the controller's reason, in place of the kernel's for all",
    arguments: [0x06, 0x22, 0x23, 0x2A] as [UInt8])
  func encryptionFailure(_ status: UInt8) throws {
    let stage = try KernelStage.on()
    let link = try connected(stage)
    var end: BluetoothError?
    link.onEvent = { if case .ended(let reason) = $0 { end = reason } }
    try stage.kernel.encryptionFailed(0x40, status)
    try stage.kernel.disconnected(0x40, 0x05)
    try stage.wait(.seconds(2))
    #expect(end?.domain == .hci && end?.code == Int(status))
    let isTold = stage.events.contains { if case .pairing(phone, .keysLost(theirs: true)) = $0 { true } else { false } }
    #expect(isTold == (status == 0x06))
  }

  @Test("several calls for out-of-band data get the same, by one command")
  func outOfBand() throws {
    let stage = try KernelStage.on()
    stage.kernel.unanswered = [ReadLocalOutOfBandExtendedData.opcode]
    var results: [Result<OutOfBandData, BluetoothError>] = []
    for _ in 1...2 { stage.adapter.readOutOfBand { results.append($0) } }
    try stage.settle()
    #expect(stage.kernel.commands.count { $0.code == ReadLocalOutOfBandExtendedData.opcode } == 1 && results.isEmpty)
    let (confirmation, random) = ([UInt8](repeating: 1, count: 16), [UInt8](repeating: 2, count: 16))
    let structures = [17, 0x22] + confirmation + [17, 0x23] + random
    try stage.kernel.tell(
      answer(0, ReadLocalOutOfBandExtendedData.opcode, [0x06, UInt8(structures.count), 0] + structures))
    try stage.settle()
    let data = try results.map { try $0.get() }
    let secure = SecureOutOfBandData(confirmation: confirmation, random: random)
    #expect(data.map(\.secure) == [secure, secure] && data.allSatisfy { $0.temporaryKey == nil })
  }

  @Test("a temporary key of legacy pairing is refused, which the kernel cannot be told", arguments: [true, false])
  func temporaryKey(_ hasSecure: Bool) throws {
    let stage = try KernelStage.on()
    let octets = [UInt8](repeating: 1, count: 16)
    let secure = SecureOutOfBandData(confirmation: octets, random: octets)
    let data = try #require(OutOfBandData(secure: hasSecure ? secure : nil, temporaryKey: octets))
    let error = #expect(throws: BluetoothError.self) { try stage.adapter.setOutOfBand(data, of: phone) }
    #expect(error?.name == "notSupported")
    stage.adapter.removeOutOfBand(of: phone)
    try stage.settle()
    let codes = stage.kernel.commands.map(\.code)
    #expect(!codes.contains(AddRemoteOutOfBandData.opcode) && !codes.contains(RemoveRemoteOutOfBandData.opcode))
  }

  @Test("the kernel is told the data of a device, and that they are gone")
  func dataOfDevice() throws {
    let stage = try KernelStage.on()
    let octets = [UInt8](repeating: 1, count: 16)
    let secure = SecureOutOfBandData(confirmation: octets, random: octets)
    try stage.adapter.setOutOfBand(try #require(OutOfBandData(secure: secure)), of: phone)
    stage.adapter.removeOutOfBand(of: phone)
    try stage.settle()
    let codes = stage.kernel.commands.map(\.code).suffix(2)
    #expect(codes.elementsEqual([AddRemoteOutOfBandData.opcode, RemoveRemoteOutOfBandData.opcode]))
  }

  @Test("a wait for out-of-band data ends with an error when the kernel has none, and when the controller goes")
  func noOutOfBand() throws {
    let stage = try KernelStage.on()
    stage.kernel.unanswered = [ReadLocalOutOfBandExtendedData.opcode]
    var names: [String] = []
    func read() throws {
      stage.adapter.readOutOfBand { if case .failure(let error) = $0 { names.append(error.name) } }
      try stage.settle()
    }
    try read()
    try stage.kernel.tell(answer(0x0C, ReadLocalOutOfBandExtendedData.opcode))
    try stage.settle()
    #expect(names == ["notSupported"])
    try read()
    stage.adapter.stop {}
    try stage.wait(.seconds(5))
    #expect(names.count == 2)
    try read()
    #expect(names.last == "adapterOff")
  }
}
