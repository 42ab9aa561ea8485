import Beacons
import BledRPC
import Bluetooth

extension IBeacon {
  /// The key for an iBeacon's content in Apple's framework, which has no public name.
  package static let advertisementKey = "kCBAdvDataAppleBeaconKey"

  /// Reads the key's value; nil for another length, which Apple's framework ignores, too.
  init?(_ content: Data) { self.init(content: content) }

  /// Reads manufacturer-specific data; nil for other content.
  init?(_ octets: HexBytes) {
    guard let data = AdvertisingData.ManufacturerData(octets: octets.octets) else { return nil }
    self.init(data)
  }
}
