import Adapter
import Radio

extension AdapterInformation {
  /// Adopts the capabilities of a controller.
  mutating func adopt(_ profile: ControllerProfile) {
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
