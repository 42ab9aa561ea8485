import Bluetooth

/// A device of a simulation, as tests command it.
package protocol CommandedDevice: AnyObject {
  /// Its name in the scenario.
  var name: String { get }
  /// The address of its scenario.
  var address: DeviceAddress { get }
  /// True if it is on the air.
  var isPresent: Bool { get }
  /// True if it has a link.
  var isConnected: Bool { get }
  /// The device appears, or vanishes.
  func setPresent(_ isPresent: Bool)
  /// Ends its link, if it has one.
  /// - Parameter reason: the HCI error code reported to the other side.
  func disconnect(reason: UInt8)
  /// Sets a value, and sends it to a subscriber.
  /// - Returns: false without such a characteristic, or its value changes by a rule.
  func setValue(_ value: [UInt8], of characteristic: BluetoothUUID) -> Bool
  /// True if it has such a characteristic at present.
  func has(_ characteristic: BluetoothUUID) -> Bool
  /// Changes members of the device, on its link from this moment on.
  func change(_ change: DeviceChange)
}
