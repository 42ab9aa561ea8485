// The names are Apple's.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

/// The device's name, complete or shortened: `String`.
public let CBAdvertisementDataLocalNameKey = "kCBAdvDataLocalName"
/// The power at which it sends, in dBm: `NSNumber`.
public let CBAdvertisementDataTxPowerLevelKey = "kCBAdvDataTxPowerLevel"
/// The services it lists: `[CBUUID]`.
public let CBAdvertisementDataServiceUUIDsKey = "kCBAdvDataServiceUUIDs"
/// Data of its services: `[CBUUID: Data]`.
public let CBAdvertisementDataServiceDataKey = "kCBAdvDataServiceData"
/// Data of its maker, the company's number first, low octet first: `Data`.
public let CBAdvertisementDataManufacturerDataKey = "kCBAdvDataManufacturerData"
/// Services in Apple's overflow area: `[CBUUID]`. Does not come on Linux.
public let CBAdvertisementDataOverflowServiceUUIDsKey = "kCBAdvDataHashedServiceUUIDs"
/// Whether it accepts connections: `NSNumber`.
public let CBAdvertisementDataIsConnectable = "kCBAdvDataIsConnectable"
/// The services it wishes to find: `[CBUUID]`.
public let CBAdvertisementDataSolicitedServiceUUIDsKey = "kCBAdvDataSolicitedServiceUUIDs"
