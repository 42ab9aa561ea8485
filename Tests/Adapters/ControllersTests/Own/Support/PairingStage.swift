import Adapter
@testable import Controllers
import Bluetooth
import BluetoothCrypto
import EventLoop
import HCI
import Radio
import TestSupport

@testable import Host

/// The pairings of a controller, which a test plays, with devices at the ends of its links.
final class PairingStage {
  /// A device, with its Security Manager.
  final class Device: ControllerLink {
    let handle: ConnectionHandle
    let peer: DeviceAddress
    /// Our role on the link.
    let role: LinkRole
    var isOver = false
    var isUsable: Bool { !isOver }
    var manager: SecurityManager
    var bond: Bond?
    var terms: PairingTerms
    /// Replaces its packets.
    var relay: (SMPPDU) -> [SMPPDU] = { [$0] }
    /// True if its controller does not answer the command to encrypt.
    var isSilent = false
    fileprivate(set) var received: [SMPPDU] = []
    /// The key with which its controller encrypts, as central.
    fileprivate var key: Key128?

    fileprivate init(_ handle: ConnectionHandle, _ peer: DeviceAddress, _ role: LinkRole, knows us: DeviceAddress) {
      (self.handle, self.peer, self.role) = (handle, peer, role)
      manager = SecurityManager(role: role.other, local: peer, peer: us)
      terms = PairingTerms(identity: peer, secrets: PairingSecrets())
      terms.isOwn = true
    }
  }

  static let local = DeviceAddress(value: 0x0011_2233_4455, kind: .public)
  static let lamp = DeviceAddress(value: 0xC011_2233_4455, kind: .random)
  static let phone = DeviceAddress(value: 0xC0FF_EE00_0001, kind: .random)

  let loop: EventLoop
  let scheduler: VirtualScheduler
  let bonds = StoredBonds()
  let pairing: HostPairing
  private let context: AdapterContext
  private let wires = Wires()
  private var devices: [ConnectionHandle: Device] = [:]
  /// The errors with which its controller refuses to begin encryption, one each time.
  var refusals: [HCIErrorCode] = []
  private(set) var events: [(device: DeviceAddress, event: PairingEvent)] = []

  init() throws {
    loop = try EventLoop()
    scheduler = VirtualScheduler(later: loop.execute)
    context = AdapterContext(name: "test", scheduler: scheduler, logger: LogLines().logger)
    pairing = HostPairing(wires, in: context)
    pairing.bonds.local = Self.local
    pairing.addressOnAir = Self.local
    pairing.bonds.kept = bonds
    pairing.owner = wires
    pairing.onEvent = { [unowned self] device, event in
      events.append((device, event))
      if case .bonded(let bond) = event { bonds.all = bonds.all.filter { $0.peer != bond.peer } + [bond] }
    }
  }

  /// The links to be disconnected.
  var disconnected: [ConnectionHandle] { wires.disconnected }
  /// The links to be ended since they could not be encrypted, and the reasons.
  var unencrypted: [ConnectionHandle: HCIErrorCode] { wires.unencrypted }
  var failures: [BluetoothError] { events.compactMap { if case .failed(let error) = $0.event { error } else { nil } } }
  var bonded: [Bond] { events.compactMap { if case .bonded(let bond) = $0.event { bond } else { nil } } }

  /// A link is established.
  /// - Parameter us: our address as the device knows it; nil for the one on the air.
  func connect(
    _ address: DeviceAddress, _ handle: ConnectionHandle, as role: LinkRole = .central, knows us: DeviceAddress? = nil
  ) -> Device {
    let device = Device(handle, address, role, knows: us ?? pairing.addressOnAir)
    devices[handle] = device
    pairing.began(handle, role, address)
    return device
  }

  /// Raises the protection of a link.
  func raise(
    _ device: Device, to level: Int = 2, _ capability: PairingCapability = .none, usesOwnData: Bool = true,
    replacesBond: Bool = false
  ) -> Outcome {
    let outcome = Outcome()
    pairing.raise(device, to: level, as: capability, usesOwnData: usesOwnData, replacesBond: replacesBond) {
      outcome.all.append($0)
    }
    return outcome
  }

  final class Outcome {
    /// The results of a call with one expected result.
    fileprivate(set) var all: [BluetoothError?] = []
    var error: BluetoothError? { all.first ?? nil }
    var hasSucceeded: Bool { all.count == 1 && error == nil }
    var hasFailed: Bool { all.count == 1 && error != nil }
  }

  /// The user of the adapter allows each pairing that a device begins.
  func consent() throws {
    try settle()
    for case .question(let id, .consent) in events.map(\.event) { pairing.answer(id, .accept) }
    try settle()
  }

  /// A device begins to pair.
  func begin(_ device: Device) throws {
    let requirements = PairingFeatures(requesting: device.terms).requirements
    let now = scheduler.now
    perform(device.manager.raise(bond: device.bond, requirements, device.terms, now: now), device)
    try settle()
  }

  /// Both sides do all that they can without time passing.
  func settle() throws {
    var isBusy = true
    while isBusy {
      isBusy = try loop.poll()
      if !wires.packets.isEmpty {
        isBusy = true
        let (handle, packet) = wires.packets.removeFirst()
        if let device = devices[handle] { receive(packet, device) }
      }
      if !wires.commands.isEmpty {
        isBusy = true
        let (packet, done) = wires.commands.removeFirst()
        try execute(packet, done)
      }
    }
  }

  private func receive(_ packet: [UInt8], _ device: Device) {
    if let pdu = try? SMPPDU(parsing: packet) { device.received.append(pdu) }
    perform(
      device.manager.receive(packet, bond: device.bond, .granted(device.terms), now: scheduler.now), device)
  }

  private func perform(_ actions: [SecurityAction], _ device: Device) {
    for action in actions {
      switch action {
      case .send(let pdu): for pdu in device.relay(pdu) { pairing.receive(pdu.encoded, on: device.handle) }
      case .encrypt(let key):
        device.key = key.value
        pairing.receive(
          .leLongTermKeyRequest(
            LELongTermKeyRequest {
              $0.handle = device.handle
              ($0.randomNumber, $0.encryptedDiversifier) = (key.random, key.diversifier)
            }))
      case .ask(let number, .consent):
        perform(device.manager.answer(number, .accept, now: scheduler.now), device)
      case .paired(let bond): device.bond = bond
      case .ask, .replyToKeyRequest, .show, .secured, .failed, .keysLost, .disconnect: break
      }
    }
  }

  /// The controllers execute a command about encryption.
  private func execute(_ packet: CommandPacket, _ done: (CommandSlot.Answer) -> Void) throws {
    if packet.opcode == LEEnableEncryption.opcode, !refusals.isEmpty {
      return done(
        CommandSlot.Answer(opcode: packet.opcode, status: HCIStatus(refusals.removeFirst()), complete: nil))
    }
    done(CommandSlot.Answer(opcode: packet.opcode, status: .success, complete: nil))
    switch packet.opcode {
    case LEEnableEncryption.opcode:
      let command = try LEEnableEncryption(decoding: packet)
      guard let device = devices[command.handle], !device.isSilent else { return }
      let actions = device.manager.keyRequested(
        random: command.randomNumber, diversifier: command.encryptedDiversifier, bond: device.bond)
      for case .replyToKeyRequest(let key) in actions {
        guard let key else { return encrypted(device, .pinOrKeyMissing) }
        // The link ends: the keys differ.
        if key.littleEndian == command.longTermKey { encrypted(device, .success) }
      }
    case LELongTermKeyRequestReply.opcode:
      let reply = try LELongTermKeyRequestReply(decoding: packet)
      guard let device = devices[reply.handle], device.key?.littleEndian == reply.longTermKey else { return }
      encrypted(device, .success)
    case LELongTermKeyRequestNegativeReply.opcode:
      let reply = try LELongTermKeyRequestNegativeReply(decoding: packet)
      guard let device = devices[reply.handle] else { return }
      perform(device.manager.encryptionFailed(HCIStatus(.pinOrKeyMissing).rawValue), device)
    default: break
    }
  }

  private func encrypted(_ device: Device, _ code: HCIErrorCode) {
    pairing.receive(HostStage.encrypted(device.handle, code))
    if code == .success { perform(device.manager.encrypted(now: scheduler.now), device) }
  }
}

/// The ways to the controller and to the links.
private final class Wires: ControllerCommands, HostPairingOwner {
  let isReady = true
  let features: LEFeatures = []
  let shortestInterval: Duration? = nil
  var commands: [(packet: CommandPacket, done: (CommandSlot.Answer) -> Void)] = []
  var packets: [(handle: ConnectionHandle, octets: [UInt8])] = []
  var disconnected: [ConnectionHandle] = []
  var unencrypted: [ConnectionHandle: HCIErrorCode] = [:]

  func ask(_ packet: CommandPacket, _ done: @escaping (CommandSlot.Answer) -> Void) { commands.append((packet, done)) }
  func send(_ packet: [UInt8], on handle: ConnectionHandle) { packets.append((handle, packet)) }
  func pairingFailed(_ handle: ConnectionHandle) { disconnected.append(handle) }
  func encryptionFailed(_ handle: ConnectionHandle, _ reason: HCIErrorCode) { unencrypted[handle] = reason }
  func securityChanged(_ handle: ConnectionHandle) {}
}
