import Adapter
import Bluetooth
import HCI

/// What a controller tells about a link that is up.
enum LinkNews: Hashable {
  /// Its parameters changed.
  case parameters(LinkParameters)
  /// Its parameters stay as they are.
  case parametersRefused(HCIStatus)
  /// Its PHYs are these; or stay as they are, if the status is an error.
  case phy(HCIStatus, tx: PHY?, rx: PHY?)
  /// The longest payloads of packets are these, in octets.
  case dataLength(tx: Int, rx: Int)
  /// The other controller has these features.
  case features(LEFeatures)
}

extension LinkNews {
  init(_ event: LEConnectionUpdateComplete) {
    guard event.status.isSuccess else {
      self = .parametersRefused(event.status)
      return
    }
    self = .parameters(LinkParameters(event.interval, event.latency, event.supervisionTimeout))
  }
}

extension LinkParameters {
  /// The parameters in the controllers' units: 1.25 ms, events, and 10 ms.
  init(_ interval: UInt16, _ latency: UInt16, _ timeout: UInt16) {
    self.init(
      interval: TimeUnits.connectionUnits(interval), latency: Int(latency),
      supervisionTimeout: TimeUnits.supervisionUnits(timeout))
  }
}
