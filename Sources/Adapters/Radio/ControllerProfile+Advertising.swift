import Adapter
import Bluetooth

extension ControllerProfile {
  /// Advertisements sent at once. The kernel knows only the first set's random address: pairing with a central
  /// connected through another set fails. So on the kernel's controller only the first is used without a public
  /// address.
  package var usableAdvertisingSets: Int { address.kind == .random && !isExclusive ? 1 : advertisingSets }

  /// Its supported sets.
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
