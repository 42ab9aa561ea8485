import Bluetooth
import HCI

/// The commands of a controller, and those about itself.
extension VirtualController {
  /// The commands that begin something: they are answered with Command Status.
  private static let begun: Set<Opcode> = [
    Disconnect.opcode, ReadRemoteVersionInformation.opcode, LEReadRemoteFeatures.opcode, LEConnectionUpdate.opcode,
    LESetPHY.opcode, LEEnableEncryption.opcode, LECreateConnection.opcode, LEExtendedCreateConnection.opcode,
    LEPeriodicAdvertisingCreateSync.opcode, LEReadAllRemoteFeatures.opcode, LESubrateRequest.opcode,
    LEConnectionRateRequest.opcode,
  ]
  private static let reset: Opcode = 0x0C03
  /// LE Set Default PHY (Core 5.4, Vol 4, Part E, 7.8.48).
  private static let setDefaultPHY: Opcode = 0x2031

  /// Executes a command and answers it.
  func execute(_ packet: CommandPacket) {
    let isBegun = Self.begun.contains(packet.opcode)
    do throws(Refusal) {
      let values = try answer(to: packet)
      if isBegun { begin(packet.opcode) } else { complete(packet.opcode, .success, values) }
    } catch {
      if isBegun { begin(packet.opcode, error.code) } else { complete(packet.opcode, error.code) }
    }
    if packet.opcode == LECreateConnectionCancel.opcode { activities.cancelled() }
    if packet.opcode == LEPeriodicAdvertisingCreateSyncCancel.opcode { activities.syncs.cancelled() }
  }

  /// - Returns: the answer behind its status.
  private func answer(to packet: CommandPacket) throws(Refusal) -> [UInt8] {
    if let values = try executeOnLink(packet) { return values }
    if let values = try settings.execute(packet, hasLinks: !ends.isEmpty) { return values }
    if let values = try activities.execute(packet) { return values }
    if let values = information(packet) { return values }
    try change(packet)
    return []
  }

  // MARK: - Itself

  /// - Returns: the answer to a question, behind its status; nil for another command.
  private func information(_ packet: CommandPacket) -> [UInt8]? {
    switch packet.opcode {
    case ReadLocalVersionInformation.opcode:
      // A maker whose controllers with flow control are known to have it is Nordic's Zephyr (0x05F1).
      [13, 0, 0, 13] + (model.isSlowable ? [0xF1, 0x05] : [0xFF, 0xFF]) + [0, 0]
    case ReadLocalSupportedCommands.opcode: model.commands
    case ReadBDADDR.opcode: Array(model.address.octets.prefix(6))
    case LEReadBufferSize.opcode: model.dataLength.octets + [model.dataPackets]
    case LEReadLocalSupportedFeatures.opcode: settings.features.first.rawValue.octets
    case LEReadSupportedStates.opcode: model.states.rawValue.octets
    case LEReadFilterAcceptListSize.opcode: [model.acceptListSize]
    case LEReadMaximumDataLength.opcode:
      model.longestPacket.octets + UInt16(2120).octets + model.longestPacket.octets + UInt16(2120).octets
    case LEReadMaximumAdvertisingDataLength.opcode: model.advertisingDataLength.octets
    case LEReadNumberOfSupportedAdvertisingSets.opcode: [model.advertisingSets]
    default: nil
    }
  }

  private func change(_ packet: CommandPacket) throws(Refusal) {
    switch packet.opcode {
    case Self.reset: reset()
    case LESetEventMask.opcode: eventMask = (try packet.decoded() as LESetEventMask).mask
    case HostBufferSize.opcode where model.isSlowable:
      hostRoom = Int((try packet.decoded() as HostBufferSize).aclDataPackets)
    case SetControllerToHostFlowControl.opcode where model.isSlowable, SetEventMask.opcode: break
    case Self.setDefaultPHY where model.phys != 1:
      guard packet.parameters.count == 3 else { throw Refusal(.invalidHCICommandParameters) }
      let isAny = packet.parameters[0]
      preferredPHYs = (isAny & 1 != 0 ? 7 : packet.parameters[1], isAny & 2 != 0 ? 7 : packet.parameters[2])
    default: throw Refusal(.unknownHCICommand)
    }
  }
}
