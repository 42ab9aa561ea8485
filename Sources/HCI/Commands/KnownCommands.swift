/// All commands whose parameters this module understands.
public enum KnownCommands {
  /// Their types.
  public static let all: [any HCICommand.Type] = [
    SetEventMask.self, ReadLocalVersionInformation.self, ReadLocalSupportedCommands.self, ReadBufferSize.self,
    ReadBDADDR.self, LESetEventMask.self, LEReadBufferSize.self, LEReadLocalSupportedFeatures.self,
    LESetRandomAddress.self, LEReadSupportedStates.self,
    LESetScanParameters.self, LESetScanEnable.self, LESetAdvertisingParameters.self, LESetAdvertisingData.self,
    LESetScanResponseData.self, LESetAdvertisingEnable.self, LECreateConnection.self,
    LESetExtendedScanParameters.self, LESetExtendedScanEnable.self, LESetAdvertisingSetRandomAddress.self,
    LESetExtendedAdvertisingParameters.self, LESetExtendedAdvertisingData.self, LESetExtendedScanResponseData.self,
    LESetExtendedAdvertisingEnable.self, LEReadMaximumAdvertisingDataLength.self,
    LEReadNumberOfSupportedAdvertisingSets.self, LERemoveAdvertisingSet.self, LEExtendedCreateConnection.self,
    LEReadFilterAcceptListSize.self, LEClearFilterAcceptList.self, LEAddDeviceToFilterAcceptList.self,
    LERemoveDeviceFromFilterAcceptList.self,
    Disconnect.self, ReadRemoteVersionInformation.self, ReadRSSI.self, LECreateConnectionCancel.self,
    LEConnectionUpdate.self, LEReadRemoteFeatures.self, LESetDataLength.self, LEReadPHY.self, LESetPHY.self,
    LEEnableEncryption.self, LELongTermKeyRequestReply.self, LELongTermKeyRequestNegativeReply.self,
  ]

  private static let byOpcode = Dictionary(uniqueKeysWithValues: all.map { ($0.opcode, $0) })

  /// The type of the command with this opcode, if it is known.
  public static func type(of opcode: Opcode) -> (any HCICommand.Type)? { byOpcode[opcode] }
}
