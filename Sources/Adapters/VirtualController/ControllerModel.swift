import Bluetooth
import HCI

/// The make of a virtual controller: its features, its buffers, and its manners.
package struct ControllerModel: Sendable {
  /// Its public address; 0 if it has none.
  package var address: UInt64
  /// The stream of its random numbers.
  package var stream: UInt64
  package var features = LEFeatures.bluetooth5
  /// The features beyond the first 64.
  package var moreFeatures: LEMoreFeatures = .shorterConnectionIntervals
  /// The shortest interval of links with shorter connection intervals, in 0.125 ms.
  package var shortestInterval: UInt16 = 3
  /// The longest data packet of the host, in octets, and the number of such packets.
  package var dataLength: UInt16 = 251
  package var dataPackets: UInt8 = 8
  package var links = 8
  package var advertisingSets: UInt8 = 4
  /// The trains that it follows at once.
  package var trains = 8
  package var acceptListSize: UInt8 = 16
  package var states = LEStates.all
  /// True with flow control of data to the host.
  package var isSlowable = false
  /// The longest packet on a link, in octets, with the data length extension.
  package var longestData: UInt16 = 251
  /// The longest advertising data, in octets, with extended advertising.
  package var longestAdvertising: UInt16 = 1650
  /// The time from the opening of the transport until it accepts commands.
  package var startTime = Duration.zero
  /// Maximum packets of each side in a connection event; nil for as many as there is time for.
  package var packetsPerEvent: Int?
  /// The time between a command and its answer.
  package var answerTime: ClosedRange<Duration> = .zero...(.zero)
  /// The delay of events about links, in their order. Data are not delayed, and may overtake them.
  package var eventDelay: ClosedRange<Duration> = .zero...(.zero)
  /// The connection events from a change of a link to its instant; 6 at least for a polite one (Core 5.4, Vol 6, Part
  /// B, 5.1.1).
  package var instantDistance: UInt16 = 6

  package init(address: UInt64) { (self.address, stream) = (address, address) }

  var isExtended: Bool { features.contains(.extendedAdvertising) }
  /// The longest advertising data, in octets.
  var advertisingDataLength: UInt16 { isExtended ? longestAdvertising : 31 }
  /// The longest packet on a link, in octets.
  var longestPacket: UInt16 { features.contains(.dataPacketLengthExtension) ? longestData : 27 }
  var subrates: Bool { features.contains(.connectionSubrating) }
  var hasMoreFeatures: Bool { features.contains(.extendedFeatureSet) }
  var shortens: Bool { hasMoreFeatures && moreFeatures.contains(.shorterConnectionIntervals) }
  /// The PHYs of links, as a mask.
  var phys: UInt8 { 1 | (features.contains(.phy2M) ? 2 : 0) | (features.contains(.codedPHY) ? 4 : 0) }

  /// The bits of the supported commands (Core 5.4, Vol 4, Part E, 6.27).
  var commands: [UInt8] {
    var bits = [UInt8](repeating: 0, count: 64)
    bits[0] = 0x20
    bits[2] = 0x80
    bits[5] = 0xC0
    bits[10] = isSlowable ? 0xE0 : 0
    bits[14] = 0x28
    bits[15] = 0x22
    bits[25] = 0xF7
    bits[26] = 0xFF
    bits[27] = 0xEF
    bits[28] = 0x0F
    if features.contains(.parametersRequest) { bits[33] |= 0x30 }
    if features.contains(.dataPacketLengthExtension) {
      bits[33] |= 0x40
      bits[35] |= 0x08
    }
    if phys != 1 { bits[35] |= 0x70 }
    if subrates {
      bits[44] |= 0x02
      bits[46] |= 0x03
    }
    if hasMoreFeatures {
      bits[47] |= 0x1C
      bits[48] |= 0xE0
    }
    if isExtended {
      bits[36] = 0xFE
      bits[37] = 0xE3
    }
    if features.contains(.advertisingCodingSelection) { bits[46] |= 0x04 }
    if features.contains(.periodicAdvertising) {
      bits[37] |= 0x1C
      bits[38] |= 0x07
    }
    if features.contains(.periodicTransferSender) { bits[40] |= 0xC0 }
    if features.contains(.periodicTransferRecipient) { bits[41] |= 0x01 }
    if features.contains(.periodicResponsesAdvertiser) {
      bits[46] |= 0x20
      bits[47] |= 0x02
    }
    if features.contains(.periodicResponsesScanner) { bits[46] |= 0xC0 }
    return bits
  }
}

extension LEFeatures {
  static let encryption = LEFeatures(rawValue: 1 << 0)
  static let parametersRequest = LEFeatures(rawValue: 1 << 1)
  /// The features of a controller of Bluetooth 4.0.
  package static let bluetooth40: LEFeatures = [.encryption]
  /// The features of one of Bluetooth 5 that this module has.
  package static let bluetooth5: LEFeatures = [
    .encryption, .parametersRequest, .peripheralInitiatedFeaturesExchange, .dataPacketLengthExtension, .phy2M,
    .codedPHY, .extendedAdvertising, .connectionSubrating, .extendedFeatureSet, .advertisingCodingSelection, .trains,
  ]
  /// Trains: sending, following, transferring them, and responses.
  package static let trains: LEFeatures = [
    .periodicAdvertising, .periodicTransferSender, .periodicTransferRecipient, .periodicResponsesAdvertiser,
    .periodicResponsesScanner,
  ]
}
