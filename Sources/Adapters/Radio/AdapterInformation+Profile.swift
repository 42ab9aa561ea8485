import Adapter
import Bluetooth

extension AdapterInformation {
  /// Adopts a controller's capabilities.
  package mutating func adopt(_ profile: ControllerProfile) {
    address = profile.address
    phys = profile.phys
    features = LinkLayerFeatures(words: [profile.features.rawValue, profile.moreFeatures.rawValue])
    longestPacket = profile.longestPacket
    hasExtendedAdvertising = profile.advertisesExtended
    hasPeriodicAdvertising = profile.hasPeriodicAdvertising
    hasPeriodicResponses = profile.hasPeriodicResponses
    canSynchronise = profile.canSynchronise
    canRespond = profile.canRespond
    maximumAdvertisingSets = profile.usableAdvertisingSets
    maximumAdvertisingDataLength = profile.advertisingDataLength
  }
}
