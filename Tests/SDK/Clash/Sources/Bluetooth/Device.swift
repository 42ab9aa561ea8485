import CoreBluetooth

/// A device of this program's own module Bluetooth.
public struct Device {
  /// The device.
  public let peripheral: CBPeripheral
  /// Its service.
  public static let service = CBUUID(string: "180D")
}
