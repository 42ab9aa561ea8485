import HCI

extension CommandPacket {
  /// The commands for a link, which name its handle first.
  private static let linkCommands: Set<Opcode> = [
    Disconnect.opcode, ReadRemoteVersionInformation.opcode, ReadRSSI.opcode, LEConnectionUpdate.opcode,
    LERemoteConnectionParameterRequestReply.opcode, LERemoteConnectionParameterRequestNegativeReply.opcode,
    LEReadRemoteFeatures.opcode, LESetDataLength.opcode, LEReadPHY.opcode, LESetPHY.opcode, LESubrateRequest.opcode,
    LEReadAllRemoteFeatures.opcode, LEConnectionRateRequest.opcode,
    LEEnableEncryption.opcode, LELongTermKeyRequestReply.opcode, LELongTermKeyRequestNegativeReply.opcode,
    LEPeriodicAdvertisingSyncTransfer.opcode, LEPeriodicAdvertisingSetInfoTransfer.opcode,
    LESetPeriodicAdvertisingSyncTransferParameters.opcode,
  ]

  /// The target link; nil if the command has none.
  var link: ConnectionHandle? {
    guard Self.linkCommands.contains(opcode), parameters.count >= 2 else { return nil }
    return ConnectionHandle(parameters[0]) | ConnectionHandle(parameters[1]) << 8
  }

  /// Disconnect, as a person would.
  static func disconnect(_ handle: ConnectionHandle) -> CommandPacket {
    CommandPacket(Disconnect(handle: handle, reason: HCIStatus(.remoteUserTerminatedConnection)))
  }
}
