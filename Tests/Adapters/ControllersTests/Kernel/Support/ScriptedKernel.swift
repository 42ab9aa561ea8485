import Adapter
@testable import Controllers
import Bluetooth
import EventLoop
import Glibc
import HCI

/// Plays the kernel behind its sockets: one controller, with the answers of a plain one to its commands.
final class ScriptedKernel: KernelSockets {
  /// The controller's address.
  static let address = DeviceAddress(value: 0x00AA_0100_0000, kind: .public)

  /// The received mgmt commands.
  private(set) var commands: [ManagementPacket] = []
  /// The received HCI commands.
  private(set) var controllerCommands: [CommandPacket] = []
  /// The number of times the adapter has begun to listen for links.
  private(set) var listens = 0
  /// mgmt commands that are refused.
  var refused: Set<UInt16> = []
  /// Slow mgmt commands, such as a pairing: a test sends their answers.
  var unanswered: Set<UInt16> = [PairDevice.opcode]
  /// The error of each attempt to accept a link, such as EMFILE; nil for none.
  var acceptError: Int32?
  /// The features of the controller.
  var features: LEFeatures = [.peripheralInitiatedFeaturesExchange]
  /// The other ends of channels that the adapter opens.
  private(set) var opening: [Descriptor] = []
  /// The supported commands of the controller, in addition to the one that reads its features.
  var works: Set<Opcode> = []
  /// The private addresses that the kernel makes, each while a discovery starts.
  var privateAddresses: [DeviceAddress] = []
  /// The links that the kernel knows.
  var known: [KnownLink] = []
  var rival: Int?
  var usersOfChannels: [UInt32] = []
  let channels: any ChannelSockets = NoChannels()

  private var mgmt: Descriptor?
  private var control: Descriptor?
  private var offered: Descriptor?
  private var offers: [OfferedLink] = []
  /// The other ends of links.
  private(set) var links: [UInt16: Descriptor] = [:]

  // MARK: The adapter's sockets

  func management() throws(SystemError) -> Descriptor {
    let (ours, theirs) = try Self.pair()
    mgmt = ours
    return theirs
  }

  func ignoreDeviceFound(_ isIgnored: Bool, on management: Descriptor) {}

  func controller(_ index: ControllerIndex, _ packets: ControllerPackets) throws(SystemError) -> Descriptor {
    let (ours, theirs) = try Self.pair()
    // The others receive nothing.
    if packets.reports == false { control = ours } else { silent.append(ours) }
    return theirs
  }
  private var silent: [Descriptor] = []

  func links(of index: ControllerIndex, over control: Descriptor) -> [KnownLink]? { known }

  func listen(at address: DeviceAddress, mtu: Int) throws(SystemError) -> Descriptor {
    let (ours, theirs) = try Self.pair()
    offered = ours
    listens += 1
    return theirs
  }

  func accept(from listener: Descriptor) throws(SystemError) -> OfferedLink? {
    var octet = [UInt8](repeating: 0, count: 1)
    while try listener.read(into: &octet) != nil {}
    if let acceptError { throw SystemError(result: -acceptError) }
    return offers.isEmpty ? nil : offers.removeFirst()
  }

  func channel(
    to peer: DeviceAddress, _ psm: UInt16, _ mode: ChannelMode, receiveMTU: Int, from address: DeviceAddress
  ) throws(SystemError) -> Descriptor {
    let (ours, theirs) = try Self.pair()
    // There is no room until the device answers.
    while (try? theirs.write([UInt8](repeating: 0, count: 4096))) == true {}
    opening.append(ours)
    return theirs
  }

  func signalling(of index: ControllerIndex) -> Descriptor? {
    guard let (ours, theirs) = try? Self.pair() else { return nil }
    signals = ours
    return theirs
  }
  private var signals: Descriptor?

  private static func pair() throws(SystemError) -> (ours: Descriptor, theirs: Descriptor) {
    var ends: [Int32] = [-1, -1]
    let type = Int32(SOCK_SEQPACKET.rawValue) | Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
    _ = try SystemError.check(socketpair(AF_UNIX, type, 0, &ends) == 0 ? 0 : -errno)
    return (Descriptor(ends[0]), Descriptor(ends[1]))
  }

  // MARK: The kernel's side

  /// Answers the received packets.
  /// - Returns: true if there were any.
  func answer() throws -> Bool {
    var hasAnswered = false
    while let octets = try next(mgmt) {
      hasAnswered = true
      let packet = try ManagementPacket(decoding: octets)
      commands.append(packet)
      guard !unanswered.contains(packet.code) else { continue }
      if packet.code == StartDiscovery.opcode, !privateAddresses.isEmpty {
        let command = CommandPacket(LESetRandomAddress { $0.address = self.privateAddresses.removeFirst().value })
        _ = try control?.write(HCIPacket.command(command).octets)
      }
      let event = ManagementCommandComplete {
        $0.opcode = packet.code
        $0.status = refused.contains(packet.code) ? ManagementStatus(rawValue: 0x0D) : .success
        $0.returnParameters = returns(to: packet)
      }
      _ = try mgmt?.write(ManagementPacket(event: event, index: packet.index).octets)
    }
    while let octets = try next(control) {
      guard case .command(let command) = try HCIPacket(decoding: octets) else { continue }
      hasAnswered = true
      controllerCommands.append(command)
      let opcode = command.opcode.rawValue
      let isKnown = command.opcode == LEReadLocalSupportedFeatures.opcode
      let code = [UInt8(opcode & 0xFF), UInt8(opcode >> 8)]
      if command.opcode == Disconnect.opcode {
        try event(0x0F, [0, 1] + code)
      } else {
        let isDone = works.contains(command.opcode)
        try event(0x0E, [1] + code + (isKnown ? [0] + features.octets : [isDone ? 0 : 0x01]))
      }
    }
    return hasAnswered
  }

  /// The kernel sends an event of the management interface.
  func tell(_ event: some ManagementEventParameters) throws {
    _ = try mgmt?.write(ManagementPacket(event: event, index: ControllerIndex(rawValue: 0)).octets)
  }

  /// A packet of L2CAP signalling on a link, as a raw socket hears it.
  func signal(_ handle: UInt16, isOurs: Bool, _ command: [UInt8]) throws {
    let frame = [UInt8(command.count), 0, 5, 0] + command
    let flags: UInt16 = isOurs ? 0 : 2 << 12
    _ = try signals?.write([2] + octets(handle | flags) + [UInt8(frame.count), 0] + frame)
  }

  /// The controller sends an event.
  func event(_ code: UInt8, _ parameters: [UInt8]) throws {
    _ = try control?.write([0x04, code, UInt8(parameters.count)] + parameters)
  }

  /// The kernel gives the controller a command.
  func tell(command: CommandPacket) throws { _ = try control?.write(HCIPacket.command(command).octets) }

  /// A device has connected.
  func connected(_ device: DeviceAddress, _ handle: UInt16) throws {
    known.append(KnownLink(handle: handle, address: device.value, role: .peripheral))
    try event(
      0x3E,
      [0x01, 0] + octets(handle) + [1, device.kind.rawValue == 1 ? 0 : 1] + device.littleEndian
        + [24, 0, 0, 0, 42, 0, 0])
  }

  /// The controller knows the device's features: the last thing before the kernel offers its link.
  func exchangedFeatures(_ handle: UInt16) throws {
    try event(0x3E, [0x04, 0] + octets(handle) + [UInt8](repeating: 0, count: 8))
  }

  /// The kernel offers a link.
  func offer(_ device: DeviceAddress, _ handle: UInt16) throws {
    let (ours, theirs) = try Self.pair()
    links[handle] = ours
    offers.append(OfferedLink(descriptor: theirs, peer: device, handle: handle))
    _ = try offered?.write([1])
  }

  /// The controller could not encrypt a link.
  func encryptionFailed(_ handle: UInt16, _ status: UInt8) throws { try event(0x08, [status] + octets(handle) + [0]) }

  /// A link has ended.
  func disconnected(_ handle: UInt16, _ reason: UInt8) throws {
    known.removeAll { $0.handle == handle }
    links[handle] = nil
    try event(0x05, [0] + octets(handle) + [reason])
  }

  private func octets(_ handle: UInt16) -> [UInt8] { [UInt8(handle & 0xFF), UInt8(handle >> 8)] }

  private func next(_ descriptor: Descriptor?) throws -> [UInt8]? {
    var buffer = [UInt8](repeating: 0, count: 4096)
    guard let descriptor, let count = try descriptor.read(into: &buffer), count > 0 else { return nil }
    return Array(buffer[..<count])
  }

  private func returns(to packet: ManagementPacket) -> [UInt8] {
    switch packet.code {
    case ReadIndexList.opcode: [1, 0, 0, 0]
    case ReadControllerInformation.opcode:
      ControllerInformation {
        $0.address = Self.address.value
        $0.version = 12
        $0.manufacturer = 0x05F1
        $0.supported = [.powered, .lowEnergy, .secureConnections, .bondable]
        $0.current = [.powered, .lowEnergy]
      }.octets
    default: []
    }
  }
}

extension LEFeatures {
  fileprivate var octets: [UInt8] { (0..<8).map { UInt8(truncatingIfNeeded: rawValue >> ($0 * 8)) } }
}

private struct NoChannels: ChannelSockets {
  func listen(
    on psm: UInt16, _ parameters: ChannelParameters, at address: DeviceAddress, _ offered: @escaping () -> Void
  ) throws(SystemError) -> any ChannelAcceptor { throw SystemError(result: -EOPNOTSUPP) }
}
