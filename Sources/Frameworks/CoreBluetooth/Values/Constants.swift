// The names are Apple's.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

// MARK: Advertisement data

/// The device's name, complete or shortened: `String`.
public let CBAdvertisementDataLocalNameKey = "kCBAdvDataLocalName"
/// The transmit power, in dBm: `NSNumber`.
public let CBAdvertisementDataTxPowerLevelKey = "kCBAdvDataTxPowerLevel"
/// The services it lists: `[CBUUID]`.
public let CBAdvertisementDataServiceUUIDsKey = "kCBAdvDataServiceUUIDs"
/// Service data: `[CBUUID: Data]`.
public let CBAdvertisementDataServiceDataKey = "kCBAdvDataServiceData"
/// Manufacturer-specific data, company identifier first, low octet first: `Data`.
public let CBAdvertisementDataManufacturerDataKey = "kCBAdvDataManufacturerData"
/// Services in Apple's overflow area: `[CBUUID]`. Does not occur on Linux.
public let CBAdvertisementDataOverflowServiceUUIDsKey = "kCBAdvDataHashedServiceUUIDs"
/// Whether it accepts connections: `NSNumber`.
public let CBAdvertisementDataIsConnectable = "kCBAdvDataIsConnectable"
/// The services it looks for (Service Solicitation): `[CBUUID]`.
public let CBAdvertisementDataSolicitedServiceUUIDsKey = "kCBAdvDataSolicitedServiceUUIDs"

// MARK: Options of a central manager, a scan and a connection, and restored state

/// Whether the system shows an alert when Bluetooth is off: `Bool`. No effect on Linux.
public let CBCentralManagerOptionShowPowerAlertKey = "kCBInitOptionShowPowerAlert"
/// The name under which the manager's state is kept: `String`. See docs/porting.md.
public let CBCentralManagerOptionRestoreIdentifierKey = "kCBInitOptionRestoreIdentifier"
/// Access for media devices: `Bool`. No effect on Linux.
public let CBCentralManagerOptionDeviceAccessForMedia = "kCBInitOptionDeviceAccessForMedia"
/// Whether every report is wanted: `Bool`, false if missing.
public let CBCentralManagerScanOptionAllowDuplicatesKey = "kCBScanOptionAllowDuplicates"
/// Also devices that look for one of these services (Service Solicitation): `[CBUUID]`.
public let CBCentralManagerScanOptionSolicitedServiceUUIDsKey = "kCBScanOptionSolicitedServiceUUIDs"
/// Alert when it connects in the background: `Bool`. No effect on Linux.
public let CBConnectPeripheralOptionNotifyOnConnectionKey = "kCBConnectOptionNotifyOnConnection"
/// Alert when it disconnects in the background: `Bool`. No effect on Linux.
public let CBConnectPeripheralOptionNotifyOnDisconnectionKey = "kCBConnectOptionNotifyOnDisconnection"
/// Alert when a value comes in the background: `Bool`. No effect on Linux.
public let CBConnectPeripheralOptionNotifyOnNotificationKey = "kCBConnectOptionNotifyOnNotification"
/// Seconds to wait before connecting: `NSNumber`.
public let CBConnectPeripheralOptionStartDelayKey = "kCBConnectOptionStartDelay"
/// Bridge to Bluetooth Classic: `Bool`. No effect on Linux.
public let CBConnectPeripheralOptionEnableTransportBridgingKey = "kCBConnectOptionEnableTransportBridging"
/// The device needs Apple's notification service: `Bool`. No effect on Linux.
public let CBConnectPeripheralOptionRequiresANCS = "kCBConnectOptionRequiresANCS"
/// Reconnect automatically when the link drops: `Bool`, false if missing.
public let CBConnectPeripheralOptionEnableAutoReconnect = "kCBConnectOptionEnableAutoReconnect"
/// The peripherals that were connected or connecting: `[CBPeripheral]`.
public let CBCentralManagerRestoredStatePeripheralsKey = "kCBRestoredPeripherals"
/// The services that were scanned for: `[CBUUID]`.
public let CBCentralManagerRestoredStateScanServicesKey = "kCBRestoredScanServices"
/// The options of the scan: `[String: Any]`.
public let CBCentralManagerRestoredStateScanOptionsKey = "kCBRestoredScanOptions"

// MARK: Options of a peripheral manager, and restored state

/// Whether the system shows an alert when Bluetooth is off: `Bool`. No effect on Linux.
public let CBPeripheralManagerOptionShowPowerAlertKey = "kCBInitOptionShowPowerAlert"
/// The name under which the manager's state is kept: `String`. See docs/porting.md.
public let CBPeripheralManagerOptionRestoreIdentifierKey = "kCBInitOptionRestoreIdentifier"
/// The services that were published: `[CBMutableService]`.
public let CBPeripheralManagerRestoredStateServicesKey = "kCBRestoredServices"
/// The advertised data: `[String: Any]`.
public let CBPeripheralManagerRestoredStateAdvertisementDataKey = "kCBRestoredAdvertisement"

// MARK: UUIDs of descriptors

/// Characteristic Extended Properties descriptor; its value is an `NSNumber`.
public let CBUUIDCharacteristicExtendedPropertiesString = "2900"
/// Characteristic User Description descriptor; its value is a `String`.
public let CBUUIDCharacteristicUserDescriptionString = "2901"
/// Client Characteristic Configuration descriptor; its value is an `NSNumber`.
public let CBUUIDClientCharacteristicConfigurationString = "2902"
/// Server Characteristic Configuration descriptor; its value is an `NSNumber`.
public let CBUUIDServerCharacteristicConfigurationString = "2903"
/// Characteristic Presentation Format descriptor; its value is `Data`.
public let CBUUIDCharacteristicFormatString = "2904"
/// Characteristic Aggregate Format descriptor; its value is `Data`.
public let CBUUIDCharacteristicAggregateFormatString = "2905"
/// Valid Range descriptor; its value is `Data`.
public let CBUUIDCharacteristicValidRangeString = "2906"
/// Observation Schedule descriptor; its value is `Data`.
public let CBUUIDCharacteristicObservationScheduleString = "2910"
/// The characteristic in which a device publishes the PSM of an L2CAP channel.
public let CBUUIDL2CAPPSMCharacteristicString = "ABDD3056-28FA-441D-A470-55A75A52553A"
