import Bluetooth

/// The bonded devices that were connected once, and whether they have the service of a gateway. Devices without it are
/// left alone.
package protocol DeviceMemory: AnyObject {
  func hasService(_ address: DeviceAddress) -> Bool?
  /// - Parameter hasService: nil: it is no longer known.
  func remember(_ address: DeviceAddress, hasService: Bool?)
  /// Other devices than these are no longer known.
  func keep(_ devices: Set<DeviceAddress>)
}
