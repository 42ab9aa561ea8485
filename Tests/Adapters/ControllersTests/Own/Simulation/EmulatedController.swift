import Adapter
import Bluetooth
import HCI

/// A controller with the commands of Bluetooth 4.0 on an `EmulatedAir`. It answers late, reuses handles at once, and
/// records a host that exceeds the permitted number of pending commands or data.
final class EmulatedController {
  /// Its buffers, and its combinations of activities.
  struct Room {
    var length: UInt16 = 251
    var packets: UInt8 = 8
    var states = LEStates.all
    /// True if it has flow control to the host.
    var isSlowable = false
  }

  let socket: ControllerSocket
  private let publicAddress: UInt64
  private let room: Room
  private unowned let air: EmulatedAir
  private var randomAddress: UInt64 = 0
  private var parameters = LESetAdvertisingParameters()
  private var data: [UInt8] = []
  private var isAdvertising = false
  private(set) var isScanning = false
  private var initiator: LECreateConnection?
  private var acceptList: Set<HCIAddress> = []
  /// The pending commands, and their arrival times.
  private var pending: [(packet: CommandPacket, since: Instant)] = []
  /// Counts the hosts and resets: earlier operations do not count.
  private var generation = 0
  /// The room of the host in packets, with flow control; nil without.
  private var hostRoom: Int?
  /// True if it answers nothing.
  var isSilent = false { didSet { if !isSilent { proceed() } } }

  init(_ number: Int, _ room: Room, on air: EmulatedAir) throws {
    socket = try ControllerSocket()
    publicAddress = 0x0011_2233_4400 + UInt64(number)
    self.room = room
    self.air = air
    air.controllers.append(self)
  }

  var isReachable: Bool { socket.isOpen && !isSilent }

  func address(_ type: AddressType) -> HCIAddress {
    HCIAddress(
      DeviceAddress(value: type == .public ? publicAddress : randomAddress, kind: type == .public ? .public : .random))
  }

  // MARK: Its host

  /// One turn: handles the packets of the host.
  /// - Returns: true if there was anything.
  func work() throws -> Bool {
    let wasOpen = socket.isOpen
    guard let packets = try socket.receive() else { return false }
    if wasOpen, !socket.isOpen { reset() }
    for packet in packets {
      switch packet {
      case .command(let packet) where packet.opcode == HostNumberOfCompletedPackets.opcode:
        do throws(HCICodingError) { try freed(HostNumberOfCompletedPackets(decoding: packet)) } catch {
          air.fault("\(error)")
        }
      case .command(let packet): take(packet)
      case .acl(let packet): send(packet)
      case .event: air.fault("a host sends an event")
      }
    }
    return true
  }

  func tell(_ event: HCIEvent) { deliver(.event(event.packet)) }
  func deliver(_ packet: ACLDataPacket) { deliver(.acl(packet)) }
  private func deliver(_ packet: HCIPacket) { if socket.isOpen { _ = socket.send(packet.octets) } }

  /// The transport ends after these octets.
  func vanish(_ noise: [UInt8]) {
    if socket.isOpen { _ = socket.send(noise) }
    socket.hangUp()
    reset()
  }

  private func reset() {
    generation += 1
    (pending, initiator) = ([], nil)
    (isAdvertising, isScanning) = (false, false)
    hostRoom = nil
    acceptList = []
    air.lose(self)
  }

  private func take(_ packet: CommandPacket) {
    // A host that has waited for two seconds may check that the controller responds.
    if let first = pending.first, first.since.duration(to: air.scheduler.now) < .seconds(2) {
      air.fault("\(packet.opcode.rawValue) is sent while \(first.packet.opcode.rawValue) is executed")
    }
    pending.append((packet, air.scheduler.now))
    if pending.count == 1 { proceed() }
  }

  /// Executes the commands that wait, after some time.
  private func proceed() {
    guard !pending.isEmpty, !isSilent else { return }
    let now = generation
    air.after(0...4) { [self] in
      guard generation == now, !isSilent, !pending.isEmpty else { return }
      let packet = pending.removeFirst().packet
      do throws(HCICodingError) { try execute(packet) } catch {
        air.fault("command \(packet.opcode.rawValue): \(error)")
      }
      proceed()
    }
  }

  // MARK: Commands

  private func execute(_ packet: CommandPacket) throws(HCICodingError) {
    switch packet.opcode {
    case 0x0C03:
      reset()
      complete(packet, [])
    case ReadBDADDR.opcode: complete(packet, (0..<6).map { UInt8(truncatingIfNeeded: publicAddress >> ($0 * 8)) })
    case LEReadBufferSize.opcode:
      complete(packet, [UInt8(truncatingIfNeeded: room.length), UInt8(room.length >> 8), room.packets])
    case LEReadLocalSupportedFeatures.opcode: complete(packet, [1] + [UInt8](repeating: 0, count: 7))
    case LEReadSupportedStates.opcode:
      complete(packet, (0..<8).map { UInt8(truncatingIfNeeded: room.states.rawValue >> ($0 * 8)) })
    case LEReadFilterAcceptListSize.opcode: complete(packet, [8])
    case ReadLocalVersionInformation.opcode:
      complete(packet, [13, 0, 0, 13] + (room.isSlowable ? [0xF1, 0x05] : [0xFF, 0xFF]) + [0, 0])
    case ReadLocalSupportedCommands.opcode:
      complete(packet, (0..<64).map { $0 == 10 && room.isSlowable ? 0xE0 : 0 })
    case HostBufferSize.opcode:
      hostRoom = Int(try HostBufferSize(decoding: packet).aclDataPackets)
      complete(packet, [])
    case LESetRandomAddress.opcode:
      let isBusy = isAdvertising || isScanning || initiator != nil
      if isBusy { return refuse(packet, .commandDisallowed) }
      randomAddress = try LESetRandomAddress(decoding: packet).address
      complete(packet, [])
    case LEReadRemoteFeatures.opcode, ReadRemoteVersionInformation.opcode, ReadRSSI.opcode, Disconnect.opcode,
      LEConnectionUpdate.opcode, LEEnableEncryption.opcode, LELongTermKeyRequestReply.opcode,
      LELongTermKeyRequestNegativeReply.opcode:
      try executeOnLink(packet)
    default: try executeOnAir(packet)
    }
  }

  private func executeOnAir(_ packet: CommandPacket) throws(HCICodingError) {
    switch packet.opcode {
    case LESetAdvertisingParameters.opcode:
      if isAdvertising { return refuse(packet, .commandDisallowed) }
      parameters = try LESetAdvertisingParameters(decoding: packet)
    case LESetAdvertisingData.opcode: data = try LESetAdvertisingData(decoding: packet).data
    case LESetAdvertisingEnable.opcode:
      isAdvertising = try LESetAdvertisingEnable(decoding: packet).isEnabled
      if isAdvertising { advertise(generation) }
    case LESetScanEnable.opcode: isScanning = try LESetScanEnable(decoding: packet).isEnabled
    case LEClearFilterAcceptList.opcode: acceptList = []
    case LEAddDeviceToFilterAcceptList.opcode:
      if initiator != nil { return refuse(packet, .commandDisallowed) }
      acceptList.insert(try LEAddDeviceToFilterAcceptList(decoding: packet).device)
    case LERemoveDeviceFromFilterAcceptList.opcode:
      if initiator != nil { return refuse(packet, .commandDisallowed) }
      acceptList.remove(try LERemoveDeviceFromFilterAcceptList(decoding: packet).device)
    case LECreateConnection.opcode:
      if initiator != nil { return refuse(packet, .commandDisallowed) }
      initiator = try LECreateConnection(decoding: packet)
      return begin(packet)
    case LECreateConnectionCancel.opcode:
      guard initiator != nil else { return refuse(packet, .commandDisallowed) }
      initiator = nil
      complete(packet, [])
      return tell(.leConnectionComplete(LEConnectionComplete { $0.status = HCIStatus(.unknownConnectionIdentifier) }))
    default: return complete(packet, [UInt8](repeating: 0, count: 64))
    }
    complete(packet, [])
  }

  private func executeOnLink(_ packet: CommandPacket) throws(HCICodingError) {
    let handle = UInt16(packet.parameters.first ?? 0) | UInt16(packet.parameters.dropFirst().first ?? 0) << 8
    guard let end = air.end(handle, of: self), let link = air.links.first(where: { $0.ends.contains { $0 === end } })
    else { return refuse(packet, .unknownConnectionIdentifier) }
    switch packet.opcode {
    case ReadRSSI.opcode: return complete(packet, Array(packet.parameters.prefix(2)) + [0xC4])
    case LELongTermKeyRequestReply.opcode:
      link.answerKey(end, try LELongTermKeyRequestReply(decoding: packet).longTermKey)
      return complete(packet, Array(packet.parameters.prefix(2)))
    case LELongTermKeyRequestNegativeReply.opcode:
      link.answerKey(end, nil)
      return complete(packet, Array(packet.parameters.prefix(2)))
    case LEReadRemoteFeatures.opcode:
      link.ask(end, .leReadRemoteFeaturesComplete(LEReadRemoteFeaturesComplete { $0.handle = handle }))
    case ReadRemoteVersionInformation.opcode:
      link.ask(
        end, .readRemoteVersionInformationComplete(ReadRemoteVersionInformationComplete { $0.handle = handle }))
    case Disconnect.opcode: link.disconnect(end, try Disconnect(decoding: packet).reason)
    case LEConnectionUpdate.opcode: link.update(try LEConnectionUpdate(decoding: packet))
    default: link.encrypt(end, try LEEnableEncryption(decoding: packet))
    }
    begin(packet)
  }

  private func complete(_ packet: CommandPacket, _ values: [UInt8]) {
    tell(
      .commandComplete(
        CommandComplete {
          $0.opcode = packet.opcode
          $0.returnParameters = [0] + values
        }))
  }

  private func begin(_ packet: CommandPacket) { tell(.commandStatus(CommandStatus { $0.opcode = packet.opcode })) }

  private func refuse(_ packet: CommandPacket, _ code: HCIErrorCode) {
    tell(
      .commandStatus(
        CommandStatus {
          $0.status = HCIStatus(code)
          $0.opcode = packet.opcode
        }))
  }

  // MARK: The air

  private func advertise(_ began: Int) {
    air.after(300...1500) { [self] in
      guard isAdvertising, generation == began else { return }
      if isReachable { air.advertise(self, parameters, data) }
      advertise(began)
    }
  }

  func stopAdvertising() { isAdvertising = false }

  func wants(_ device: HCIAddress) -> Bool {
    guard let initiator else { return false }
    return initiator.filterPolicy == 1 ? acceptList.contains(device) : initiator.peer == device
  }

  /// The initiator has found a device.
  func initiated() -> LECreateConnection? {
    defer { initiator = nil }
    return initiator
  }

  func report(_ address: HCIAddress, _ type: LESetAdvertisingParameters.AdvertisingType, _ data: [UInt8]) {
    tell(
      .leAdvertisingReport(
        LEAdvertisingReports {
          $0.reports = [
            LEAdvertisingReports.Report {
              $0.eventType = type == .connectableUndirected ? 0 : 3
              $0.address = address
              $0.data = data
              $0.rssi = -60
            }
          ]
        }))
  }

  // MARK: Links

  /// The ends of its links.
  private var ends: [EmulatedLink.End] {
    air.links.flatMap(\.ends).filter { $0.controller === self && !$0.isOver }
  }

  /// True if the host has room for another packet.
  var hasHostRoom: Bool {
    hostRoom.map { room in ends.reduce(0) { $0 + ($1.isEnding ? 0 : $1.unread) } < room } ?? true
  }

  /// The host has read packets.
  private func freed(_ command: HostNumberOfCompletedPackets) {
    for link in command.links {
      guard let end = ends.first(where: { $0.handle == link.handle }) else { continue }
      end.unread -= Int(link.packets)
      if end.unread < 0 { air.fault("host \(publicAddress & 0xFF) has read \(-end.unread) packets too many") }
    }
  }

  /// The lowest number without a link here.
  func freeHandle() -> ConnectionHandle {
    (1...).first { air.end($0, of: self) == nil } ?? 0
  }

  private func send(_ packet: ACLDataPacket) {
    if packet.data.count > room.length { air.fault("a packet of \(packet.data.count) octets for \(room.length)") }
    guard let end = air.end(packet.handle, of: self),
      let link = air.links.first(where: { $0.ends.contains { $0 === end } })
    else { return air.count("data of links that are over") }
    link.send(packet, from: end)
    let waiting = ends.reduce(0) { $0 + $1.unfinished }
    if waiting > room.packets { air.fault("\(waiting) packets for \(room.packets) buffers") }
  }
}
