import Adapter
import Radio

extension AdapterInformation {
  /// Adopts the capabilities of a controller.
  mutating func take(_ profile: ControllerProfile) {
    address = profile.address
    phys = profile.phys
    longestPacket = profile.longestPacket
    hasExtendedAdvertising = profile.advertisesExtended
    hasPeriodicAdvertising = profile.hasPeriodicAdvertising
    canSynchronise = profile.canSynchronise
    maximumAdvertisingSets = profile.usableAdvertisingSets
    maximumAdvertisingDataLength = profile.advertisingDataLength
  }
}
