import Adapter
import Bluetooth

extension ControllerProfile {
  /// How many advertisements are sent at once. Of a random address the kernel knows only that of the first set: pairing
  /// with a central that came through another fails. So a controller that it uses uses the first alone if it has no
  /// public address.
  package var usableAdvertisingSets: Int { address.kind == .random && !isExclusive ? 1 : advertisingSets }

  /// The sets that it can send.
  package var advertisingCapabilities: AdvertisingCapabilities {
    var phys: Set<PHY> = [.le1M]
    if features.contains(.phy2M) { phys.insert(.le2M) }
    if features.contains(.codedPHY) { phys.insert(.leCoded) }
    var capabilities = AdvertisingCapabilities(
      isExtended: advertisesExtended, dataLength: advertisingDataLength, phys: phys, address: address,
      hasPeriodic: hasPeriodicAdvertising, selectsCoding: selectsAdvertisingCoding)
    capabilities.hasResponses = hasPeriodicResponses
    capabilities.isShared = !isExclusive
    return capabilities
  }
}
