import Bluetooth
import HCI

/// The commands of a controller about its links.
extension VirtualController {
  private func end(of packet: CommandPacket) throws(Refusal) -> LinkEnd {
    guard let end = ends[packet.handle], !end.isOver else { throw Refusal(.unknownConnectionIdentifier) }
    return end
  }

  /// - Returns: the answer behind its status; nil for a command about something else.
  func executeOnLink(_ packet: CommandPacket) throws(Refusal) -> [UInt8]? {
    switch packet.opcode {
    case Disconnect.opcode: try end(of: packet).disconnect((packet.decoded() as Disconnect).reason)
    case ReadRSSI.opcode:
      let end = try end(of: packet)
      return end.handle.octets + [UInt8(bitPattern: end.rssi)]
    case LEReadRemoteFeatures.opcode: try end(of: packet).begin(.features)
    case ReadRemoteVersionInformation.opcode: try end(of: packet).begin(.version)
    case LEConnectionUpdate.opcode:
      let wanted: LEConnectionUpdate = try packet.decoded()
      let end = try end(of: packet)
      guard 6 <= wanted.intervalMin, wanted.intervalMin <= wanted.intervalMax else {
        throw Refusal(.invalidHCICommandParameters)
      }
      // The central chooses: the shortest interval.
      let interval = end.layer.role == .central ? wanted.intervalMin : wanted.intervalMax
      let times = try Self.times(interval, wanted.latency, wanted.supervisionTimeout)
      end.begin(.parameters(times, minimum: wanted.intervalMin))
    case LESetPHY.opcode where model.phys != 1:
      let wanted: LESetPHY = try packet.decoded()
      let tx = wanted.allPHYs & 1 != 0 ? 7 : wanted.txPHYs
      let rx = wanted.allPHYs & 2 != 0 ? 7 : wanted.rxPHYs
      guard (tx | rx) & ~model.phys & 7 == 0 || wanted.allPHYs != 0 else {
        throw Refusal(.unsupportedFeatureOrParameterValue)
      }
      try end(of: packet).begin(.phy(tx: tx, rx: rx))
    case LEEnableEncryption.opcode:
      let wanted: LEEnableEncryption = try packet.decoded()
      let end = try end(of: packet)
      guard end.layer.role == .central else { throw Refusal(.commandDisallowed) }
      end.begin(
        .encryption(
          key: wanted.longTermKey, random: wanted.randomNumber, diversifier: wanted.encryptedDiversifier))
    case LEReadAllRemoteFeatures.opcode where model.hasMoreFeatures: try end(of: packet).begin(.moreFeatures)
    case LESubrateRequest.opcode where model.subrates: try end(of: packet).request(packet.decoded() as LESubrateRequest)
    case LEConnectionRateRequest.opcode where model.shortens:
      try end(of: packet).request(packet.decoded() as LEConnectionRateRequest)
    default: return try answerOnLink(packet)
    }
    return []
  }

  /// Commands that return the handle.
  private func answerOnLink(_ packet: CommandPacket) throws(Refusal) -> [UInt8]? {
    switch packet.opcode {
    case LESetDataLength.opcode where model.longestPacket > 27:
      try end(of: packet).begin(.length(tx: (packet.decoded() as LESetDataLength).txOctets))
    case LEReadPHY.opcode where model.phys != 1:
      let end = try end(of: packet)
      return end.handle.octets + [end.layer.phys.tx, end.layer.phys.rx]
    case LELongTermKeyRequestReply.opcode:
      try end(of: packet).giveKey((packet.decoded() as LELongTermKeyRequestReply).longTermKey)
    case LELongTermKeyRequestNegativeReply.opcode: try end(of: packet).giveKey(nil)
    case LERemoteConnectionParameterRequestReply.opcode where model.features.contains(.parametersRequest):
      let reply: LERemoteConnectionParameterRequestReply = try packet.decoded()
      try end(of: packet).reply(Self.times(reply.intervalMin, reply.latency, reply.supervisionTimeout))
    case LERemoteConnectionParameterRequestNegativeReply.opcode where model.features.contains(.parametersRequest):
      let reply: LERemoteConnectionParameterRequestNegativeReply = try packet.decoded()
      try end(of: packet).refuse(reply.reason.code ?? .unacceptableConnectionParameters)
    case LEPeriodicAdvertisingSyncTransfer.opcode where model.features.contains(.periodicTransferSender):
      try end(of: packet).transfer(packet.decoded() as LEPeriodicAdvertisingSyncTransfer)
    case LEPeriodicAdvertisingSetInfoTransfer.opcode where model.features.contains(.periodicTransferSender):
      try end(of: packet).transfer(packet.decoded() as LEPeriodicAdvertisingSetInfoTransfer)
    case LESetPeriodicAdvertisingSyncTransferParameters.opcode
    where model.features.contains(.periodicTransferRecipient):
      try end(of: packet).follow(packet.decoded() as LESetPeriodicAdvertisingSyncTransferParameters)
    default: return nil
    }
    return packet.handle.octets
  }

  private static func times(_ interval: UInt16, _ latency: UInt16, _ timeout: UInt16) throws(Refusal) -> LinkTimes {
    let times = LinkTimes(interval: interval, latency: latency, timeout: timeout)
    guard times.isValid else { throw Refusal(.invalidHCICommandParameters) }
    return times
  }
}
