import Bluetooth
import HCI
import Scenarios
import VirtualController

extension ControllerModel {
  /// The controller of an adapter.
  init(_ description: AdapterDescription, address: DeviceAddress) {
    // Several sets at once are of extended advertising, though of short data.
    let isExtended = description.advertisingDataLength > 31 || description.advertisingSets > 1
    self.init(address: address, description.radio, isExtended: isExtended)
    longestAdvertising = UInt16(description.advertisingDataLength)
    links = description.links
    packetsPerEvent = description.packetsPerEvent
    dataPackets = UInt8(clamping: 2 * description.packetsPerEvent)
    advertisingSets = UInt8(description.advertisingSets)
    // Any number of devices is waited for at once, as far as HCI can count them.
    acceptListSize = .max
    // A program that does not read makes a device wait.
    isSlowable = true
  }

  /// The controller of a device or a phone, which has one link.
  init(_ radio: RadioDescription, address: DeviceAddress, isExtended: Bool) {
    self.init(address: address, radio, isExtended: isExtended)
    links = 1
  }

  /// A controller without a public address has none: its host knows the random one.
  private init(address: DeviceAddress, _ radio: RadioDescription, isExtended: Bool) {
    self.init(address: address.kind == .public ? address.value : 0)
    stream = Stream.advertising.of(address)
    features = .bluetooth5
    longestData = UInt16(radio.longestPacket)
    if !radio.phys.contains(.le2M) { features.remove(.phy2M) }
    if !radio.phys.contains(.leCoded) { features.remove(.codedPHY) }
    if radio.longestPacket == 27 { features.remove(.dataPacketLengthExtension) }
    if !radio.subrating { features.remove(.connectionSubrating) }
    if !radio.shortIntervals { moreFeatures = [] }
    if !isExtended {
      features.subtract([.extendedAdvertising, .advertisingCodingSelection])
      features.subtract(.trains)
    }
  }
}
