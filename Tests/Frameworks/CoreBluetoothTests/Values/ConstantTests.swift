import CoreBluetooth
import Testing

struct ConstantTests {
  @Test func keys() {
    let values: [(String, String)] = [
      (CBAdvertisementDataLocalNameKey, "kCBAdvDataLocalName"),
      (CBAdvertisementDataTxPowerLevelKey, "kCBAdvDataTxPowerLevel"),
      (CBAdvertisementDataServiceUUIDsKey, "kCBAdvDataServiceUUIDs"),
      (CBAdvertisementDataServiceDataKey, "kCBAdvDataServiceData"),
      (CBAdvertisementDataManufacturerDataKey, "kCBAdvDataManufacturerData"),
      (CBAdvertisementDataOverflowServiceUUIDsKey, "kCBAdvDataHashedServiceUUIDs"),
      (CBAdvertisementDataIsConnectable, "kCBAdvDataIsConnectable"),
      (CBAdvertisementDataSolicitedServiceUUIDsKey, "kCBAdvDataSolicitedServiceUUIDs"),
      (CBCentralManagerOptionShowPowerAlertKey, "kCBInitOptionShowPowerAlert"),
      (CBCentralManagerOptionRestoreIdentifierKey, "kCBInitOptionRestoreIdentifier"),
      (CBCentralManagerScanOptionAllowDuplicatesKey, "kCBScanOptionAllowDuplicates"),
      (CBConnectPeripheralOptionNotifyOnConnectionKey, "kCBConnectOptionNotifyOnConnection"),
      (CBConnectPeripheralOptionNotifyOnDisconnectionKey, "kCBConnectOptionNotifyOnDisconnection"),
      (CBConnectPeripheralOptionEnableAutoReconnect, "kCBConnectOptionEnableAutoReconnect"),
      (CBCentralManagerRestoredStatePeripheralsKey, "kCBRestoredPeripherals"),
      (CBCentralManagerRestoredStateScanServicesKey, "kCBRestoredScanServices"),
      (CBCentralManagerRestoredStateScanOptionsKey, "kCBRestoredScanOptions"),
      (CBPeripheralManagerOptionRestoreIdentifierKey, "kCBInitOptionRestoreIdentifier"),
      (CBPeripheralManagerRestoredStateServicesKey, "kCBRestoredServices"),
      (CBPeripheralManagerRestoredStateAdvertisementDataKey, "kCBRestoredAdvertisement"),
      (CBUUIDCharacteristicUserDescriptionString, "2901"),
      (CBUUIDL2CAPPSMCharacteristicString, "ABDD3056-28FA-441D-A470-55A75A52553A"),
      (CBErrorDomain, "CBErrorDomain"), (CBATTErrorDomain, "CBATTErrorDomain"),
      (CBConnectionEventMatchingOption.serviceUUIDs.rawValue, "kCBConnectionEventMatchingOptionServiceUUIDs"),
      (CBConnectionEventMatchingOption.peripheralUUIDs.rawValue, "kCBConnectionEventMatchingOptionPeripheralUUIDs"),
    ]
    for (value, expected) in values { #expect(value == expected) }
  }

  @Test func numbers() {
    let states: [CBManagerState] = [.unknown, .resetting, .unsupported, .unauthorized, .poweredOff, .poweredOn]
    #expect(states.map(\.rawValue) == Array(0...5))
    let peripheral: [CBPeripheralState] = [.disconnected, .connecting, .connected, .disconnecting]
    #expect(peripheral.map(\.rawValue) == Array(0...3))
    let authorizations: [CBManagerAuthorization] = [.notDetermined, .restricted, .denied, .allowedAlways]
    #expect(authorizations.map(\.rawValue) == Array(0...3))
    #expect(CBCharacteristicWriteType.withResponse.rawValue == 0)
    #expect(CBCharacteristicWriteType.withoutResponse.rawValue == 1)
    #expect(CBConnectionEvent.peerConnected.rawValue == 1)
    #expect(CBPeripheralManagerConnectionLatency.high.rawValue == 2)
    #expect(CBCharacteristicProperties([.read, .notify]).rawValue == 0x12)
    #expect(CBCharacteristicProperties.indicateEncryptionRequired.rawValue == 0x200)
    #expect(CBAttributePermissions([.readable, .writeEncryptionRequired]).rawValue == 0x09)
    #expect(CBCentralManager.Feature.extendedScanAndConnect.rawValue == 1)
    #expect(CBCentralManager.supports([]))
  }
}
