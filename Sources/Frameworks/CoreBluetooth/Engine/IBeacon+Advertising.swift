import Beacons
import BledRPC
import Bluetooth

extension IBeacon {
  /// The key under which Apple's framework takes the content of an iBeacon, which has no public name.
  package static let advertisementKey = "kCBAdvDataAppleBeaconKey"

  /// Takes the value of the key; nil if it has another length, which Apple's framework ignores, too.
  init?(_ content: Data) { self.init(content: content) }

  /// Reads manufacturer-specific data; nil for that of anything else.
  init?(_ octets: HexBytes) {
    guard let data = AdvertisingData.ManufacturerData(octets: octets.octets) else { return nil }
    self.init(data)
  }
}
