import Adapter
import Bluetooth
import HCI

/// A controller's report on an established link.
package enum LinkNews: Hashable {
  /// Its parameters changed.
  case parameters(LinkParameters)
  /// Its interval and its subrating are these, with latency and timeout.
  case rate(LinkParameters)
  /// Its parameters stay as they are.
  case parametersRefused(HCIStatus)
  /// Its PHYs are these; or stay as they are, if the status is an error.
  case phy(HCIStatus, tx: PHY?, rx: PHY?)
  /// The longest payloads of packets are these, in octets.
  case dataLength(tx: Int, rx: Int)
  /// The other controller's features; not disclosed if the status is an error.
  case features(HCIStatus, LEFeatures)
  /// The other controller's features beyond the first 64, none if it has no more; not disclosed if the status is an
  /// error.
  case moreFeatures(HCIStatus, LEMoreFeatures)
  /// The link's new subrating, latency and timeout; if the status is an error, they are unchanged.
  case subrate(LESubrateChange)
}

extension LinkNews {
  /// The report in an event about an established link, and the link's handle; nil for another event.
  static func reported(by event: HCIEvent) -> (handle: UInt16, news: LinkNews)? {
    switch event {
    case .leConnectionUpdateComplete(let event):
      let parameters = LinkParameters(event.interval, event.latency, event.supervisionTimeout)
      return (event.handle, event.status.isSuccess ? .parameters(parameters) : .parametersRefused(event.status))
    case .leSubrateChange(let event): return (event.handle, .subrate(event))
    case .leConnectionRateChange(let event):
      return (event.handle, event.status.isSuccess ? .rate(LinkParameters(event)) : .parametersRefused(event.status))
    case .leReadAllRemoteFeaturesComplete(let event):
      return (event.handle, .moreFeatures(event.status, event.lastValidPage > 0 ? event.more : []))
    case .lePHYUpdateComplete(let event):
      return (event.handle, .phy(event.status, tx: PHY(rawValue: event.tx), rx: PHY(rawValue: event.rx)))
    case .leDataLengthChange(let event):
      return (event.handle, .dataLength(tx: Int(event.maximumTxOctets), rx: Int(event.maximumRxOctets)))
    case .leReadRemoteFeaturesComplete(let event):
      return (event.handle, .features(event.status, event.features))
    default: return nil
    }
  }

  /// The procedure ended by this event, and its outcome.
  package var outcome: (LinkRequests.Kind, HCIStatus)? {
    switch self {
    case .parameters, .rate: (.parameters, .success)
    case .parametersRefused(let status): (.parameters, status)
    case .phy(let status, _, _): (.phy, status)
    case .subrate(let subrate): (.subrate, subrate.status)
    case .moreFeatures(let status, _): (.features, status)
    case .dataLength, .features: nil
    }
  }

  /// The link's supervision timeout from now on; nil for another report.
  var supervisionTimeout: Duration? {
    switch self {
    case .parameters(let parameters), .rate(let parameters): parameters.supervisionTimeout
    case .subrate(let change) where change.status.isSuccess:
      TimeUnits.supervisionUnits(change.supervisionTimeout)
    case .parametersRefused, .phy, .dataLength, .features, .moreFeatures, .subrate: nil
    }
  }
}

extension LinkParameters {
  /// The parameters in the controllers' units: 1.25 ms, events, and 10 ms.
  package init(_ interval: UInt16, _ latency: UInt16, _ timeout: UInt16) {
    self.init(
      interval: TimeUnits.connectionUnits(interval), latency: Int(latency),
      supervisionTimeout: TimeUnits.supervisionUnits(timeout))
  }

  /// The parameters after a rate change.
  init(_ change: LEConnectionRateChange) {
    self.init(
      interval: TimeUnits.rateUnits(change.interval), latency: Int(change.latency),
      supervisionTimeout: TimeUnits.supervisionUnits(change.supervisionTimeout), subrate: max(1, Int(change.factor)),
      continuation: Int(change.continuationNumber))
  }

  /// The parameters in force after a connection update: a different interval ends its subrating, an equal one does not
  /// (Core 5.4, Vol 6, Part B, 5.1.1).
  package func updated(from last: LinkParameters?) -> LinkParameters {
    guard let last, last.interval == interval else { return self }
    var parameters = self
    (parameters.subrate, parameters.continuation) = (last.subrate, last.continuation)
    return parameters
  }

  /// The parameters with another subrating.
  package func subrated(by change: LESubrateChange) -> LinkParameters {
    LinkParameters(
      interval: interval, latency: Int(change.latency),
      supervisionTimeout: TimeUnits.supervisionUnits(change.supervisionTimeout), subrate: max(1, Int(change.factor)),
      continuation: Int(change.continuationNumber))
  }
}
