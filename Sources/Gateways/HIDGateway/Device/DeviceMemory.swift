import Bluetooth

/// The bonded devices that were connected once, and whether they have HID services. Devices without are left alone.
package protocol DeviceMemory: AnyObject {
  func isHID(_ address: DeviceAddress) -> Bool?
  /// - Parameter isHID: nil: it is no longer known.
  func remember(_ address: DeviceAddress, isHID: Bool?)
  /// Other devices than these are no longer known.
  func keep(_ devices: Set<DeviceAddress>)
}
