/// All messages of the protocol: the one list behind `docs/openrpc.json` and the tests.
public enum ProtocolContents {
  /// The version of the protocol; it is incremented by incompatible changes.
  public static let version = 1

  /// The methods that clients call.
  public static let clientCalls: [any ClientCall.Type] = [
    SessionOpen.self, SessionEnd.self, SessionList.self, RPCDiscover.self, AdapterList.self, AdapterPower.self,
    AdapterSetName.self, AdapterBlock.self,
    ScanStart.self, ScanStop.self, PeriodicSync.self, PeriodicStop.self,
    PeriodicTransfer.self, PeriodicReceive.self, PeriodicRespond.self,
    PeripheralConnect.self, PeripheralDisconnect.self, PeripheralList.self, PeripheralRSSI.self,
    PeripheralForget.self, PeripheralWatch.self, PeripheralParameters.self, PeripheralSetParameters.self,
    PeripheralSetPHY.self,
    GATTDiscover.self, GATTDiscoverServices.self, GATTDiscoverIncludedServices.self,
    GATTDiscoverCharacteristics.self, GATTDiscoverDescriptors.self,
    GATTRead.self, GATTWrite.self, GATTSubscribe.self, GATTUnsubscribe.self,
    GATTReadUsingUUID.self, GATTReadMultiple.self, GATTWriteReliably.self, GATTServerFeatures.self, GATTAcquire.self,
    ServiceAdd.self, ServiceRemove.self, ServerNotify.self, ServerNotifyMultiple.self, ServerAcquire.self,
    ServerSetLatency.self,
    AdvertisingStart.self, AdvertisingStop.self, AdvertisingSend.self,
    L2CAPPublish.self, L2CAPUnpublish.self, L2CAPOpen.self, L2CAPAccept.self, L2CAPClose.self,
    PeripheralPair.self, PairingRegister.self, PairingUnregister.self, PairingOpen.self, PairingList.self,
    PairingForget.self, PairingImport.self, PairingReadOutOfBand.self, PairingSetOutOfBand.self,
    CaptureStart.self, CaptureStop.self, MetricsGet.self,
    SimulationAdvance.self, SimulationDevices.self, SimulationAdd.self, SimulationVanish.self,
    SimulationComeBack.self, SimulationDisconnect.self, SimulationSetValue.self,
    SimulationChange.self, SimulationWritten.self,
    SimulationVisit.self, SimulationAdapter.self,
  ]

  /// The methods that the daemon calls.
  public static let daemonCalls: [any DaemonCall.Type] = [
    ServerRead.self, ServerWrite.self, PairingConfirm.self, PairingEnterPasskey.self,
  ]

  /// The notifications that the daemon sends.
  public static let notifications: [any RPCNotification.Type] = [
    AdapterChanged.self, ScanReport.self, ScanAnonymousReport.self, ScanFound.self, ScanLost.self, PeriodicReport.self,
    PeriodicChanged.self,
    PeripheralConnected.self, PeripheralConnectFailed.self, PeripheralConnectWaiting.self,
    PeripheralDisconnected.self, PeripheralLinkChanged.self, PeripheralParametersChanged.self,
    GATTDiscoveryProgress.self,
    GATTValue.self, GATTServicesChanged.self, GATTSubscriptionLost.self, GATTValuesLost.self,
    GATTReleased.self, GATTValuesDropped.self, ServerReleased.self,
    ServerSubscribed.self, ServerUnsubscribed.self, ServerWritesLost.self, ServerReady.self,
    ServerConfirmed.self,
    AdvertisingChanged.self, AdvertisingResponses.self, L2CAPIncoming.self, L2CAPClosed.self,
    PairingShowPasskey.self, PairingEnded.self, PairingKeysLost.self, PairingBonded.self,
    PairingForgotten.self,
    CaptureLost.self,
  ]
}

/// Describes the protocol.
public enum RPCDiscover: ClientCall {
  /// There are no parameters.
  public typealias Params = Empty
  /// The OpenRPC document.
  public typealias Result = JSONValue
  public static let method = MethodDescription(
    "rpc.discover", needs: nil, "Describes this protocol as an OpenRPC document.")
}
