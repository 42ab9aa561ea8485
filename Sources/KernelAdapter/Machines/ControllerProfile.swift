import Bluetooth
import HCI

/// What a controller reported about itself.
struct ControllerProfile: Hashable {
  var features = LEFeatures()
  var states = LEStates()
  /// How many devices the filter accept list holds.
  var acceptListSize = 1
  /// How many advertisements can be sent at once.
  var advertisingSets = 1
  /// How many octets an advertisement can carry.
  var advertisingDataLength = 31
  /// Our address on the air.
  var address: DeviceAddress

  /// Whether the extended family is used. A controller with this feature has all commands of the family.
  var isExtended: Bool { features.contains(.extendedAdvertising) }
  /// The type of our address in commands.
  var ownAddressType: AddressType { address.kind == .public ? .public : .random }
}
