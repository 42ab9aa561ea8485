/// All commands with parameters understood by this module.
package enum KnownCommands {
  /// Their types.
  package static let all: [any HCICommand.Type] = [
    SetEventMask.self, ReadLocalVersionInformation.self, ReadLocalSupportedCommands.self, ReadBufferSize.self,
    ReadBDADDR.self, LESetEventMask.self, LEReadBufferSize.self, LEReadLocalSupportedFeatures.self,
    LESetRandomAddress.self, LEReadSupportedStates.self,
    LESetScanParameters.self, LESetScanEnable.self, LESetAdvertisingParameters.self, LESetAdvertisingData.self,
    LESetScanResponseData.self, LESetAdvertisingEnable.self, LECreateConnection.self,
    LESetExtendedScanParameters.self, LESetExtendedScanEnable.self, LESetAdvertisingSetRandomAddress.self,
    LESetExtendedAdvertisingParameters.self, LESetExtendedAdvertisingParametersV2.self,
    LESetExtendedAdvertisingData.self, LESetExtendedScanResponseData.self,
    LESetExtendedAdvertisingEnable.self, LEReadMaximumAdvertisingDataLength.self,
    LEReadNumberOfSupportedAdvertisingSets.self, LERemoveAdvertisingSet.self, LEClearAdvertisingSets.self,
    LEExtendedCreateConnection.self,
    LESetPeriodicAdvertisingParameters.self, LESetPeriodicAdvertisingData.self, LESetPeriodicAdvertisingEnable.self,
    LEPeriodicAdvertisingCreateSync.self, LEPeriodicAdvertisingCreateSyncCancel.self,
    LEPeriodicAdvertisingTerminateSync.self,
    LEPeriodicAdvertisingSyncTransfer.self, LEPeriodicAdvertisingSetInfoTransfer.self,
    LESetPeriodicAdvertisingSyncTransferParameters.self,
    LESetPeriodicAdvertisingParametersV2.self, LESetPeriodicAdvertisingSubeventData.self,
    LESetPeriodicSyncSubevent.self, LESetPeriodicAdvertisingResponseData.self,
    LEReadFilterAcceptListSize.self, LEClearFilterAcceptList.self, LEAddDeviceToFilterAcceptList.self,
    LERemoveDeviceFromFilterAcceptList.self,
    Disconnect.self, ReadRemoteVersionInformation.self, ReadRSSI.self, LECreateConnectionCancel.self,
    LEConnectionUpdate.self, LEReadRemoteFeatures.self, LESetDataLength.self, LEReadPHY.self, LESetPHY.self,
    LEEnableEncryption.self, LELongTermKeyRequestReply.self, LELongTermKeyRequestNegativeReply.self,
    LERemoteConnectionParameterRequestReply.self, LERemoteConnectionParameterRequestNegativeReply.self,
    SetControllerToHostFlowControl.self, HostBufferSize.self, HostNumberOfCompletedPackets.self,
    LEReadMaximumDataLength.self, LESetHostFeature.self, LESetDefaultSubrate.self, LESubrateRequest.self,
    LEReadAllLocalSupportedFeatures.self, LEReadAllRemoteFeatures.self, LESetHostFeatureV2.self,
    LEAddDeviceToResolvingList.self, LERemoveDeviceFromResolvingList.self, LEReadResolvingListSize.self,
    LESetAddressResolutionEnable.self, LESetPrivacyMode.self,
    LEConnectionRateRequest.self, LESetDefaultRateParameters.self, LEReadMinimumSupportedConnectionInterval.self,
    LEAddDeviceToMonitoredAdvertisersList.self, LEClearMonitoredAdvertisersList.self,
    LEReadMonitoredAdvertisersListSize.self, LEEnableMonitoringAdvertisers.self,
  ]

  private static let byOpcode = Dictionary(uniqueKeysWithValues: all.map { ($0.opcode, $0) })

  /// The type of the command with this opcode, if known.
  package static func type(of opcode: Opcode) -> (any HCICommand.Type)? { byOpcode[opcode] }
}
