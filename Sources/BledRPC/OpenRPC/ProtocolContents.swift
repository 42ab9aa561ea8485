/// All messages of the protocol: the one list behind `rpc.discover`, `docs/openrpc.json` and the tests.
public enum ProtocolContents {
  /// The version of the protocol; it is incremented by incompatible changes.
  public static let version = 1

  /// The methods that clients call.
  public static let clientCalls: [any ClientCall.Type] = [
    SessionOpen.self, SessionEnd.self, SessionList.self, RPCDiscover.self, AdapterList.self, AdapterPower.self,
    ScanStart.self, ScanStop.self,
    PeripheralConnect.self, PeripheralDisconnect.self, PeripheralList.self, PeripheralRSSI.self,
    PeripheralForget.self, PeripheralWatch.self,
    GATTDiscover.self, GATTDiscoverServices.self, GATTDiscoverIncludedServices.self,
    GATTDiscoverCharacteristics.self, GATTDiscoverDescriptors.self,
    GATTRead.self, GATTWrite.self, GATTSubscribe.self, GATTUnsubscribe.self,
    ServiceAdd.self, ServiceRemove.self, ServerNotify.self, ServerSetLatency.self,
    AdvertisingStart.self, AdvertisingStop.self,
  ]

  /// The methods that the daemon calls.
  public static let daemonCalls: [any DaemonCall.Type] = [ServerRead.self, ServerWrite.self]

  /// The notifications that the daemon sends.
  public static let notifications: [any RPCNotification.Type] = [
    AdapterChanged.self, ScanReport.self,
    PeripheralConnected.self, PeripheralConnectFailed.self, PeripheralDisconnected.self, PeripheralLinkChanged.self,
    GATTValue.self, GATTServicesChanged.self, GATTSubscriptionLost.self, GATTValuesLost.self,
    ServerSubscribed.self, ServerUnsubscribed.self, ServerWritesLost.self, ServerReady.self,
    AdvertisingChanged.self,
  ]
}
