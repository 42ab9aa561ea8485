import Bluetooth

/// The types of attributes that GATT itself knows (Core 5.4, Vol 3, Part G, 3.4; Assigned Numbers, 3.4 to 3.8).
extension BluetoothUUID {
  static let primaryService: BluetoothUUID = 0x2800
  static let secondaryService: BluetoothUUID = 0x2801
  static let include: BluetoothUUID = 0x2802
  static let characteristic: BluetoothUUID = 0x2803
  static let characteristicExtendedProperties: BluetoothUUID = 0x2900
  static let clientCharacteristicConfiguration: BluetoothUUID = 0x2902
  static let serviceChanged: BluetoothUUID = 0x2A05
  static let clientSupportedFeatures: BluetoothUUID = 0x2B29
  static let databaseHash: BluetoothUUID = 0x2B2A
}
