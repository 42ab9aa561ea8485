import Adapter
import Bluetooth

/// The party behind a connectable advertisement.
protocol Connectable: AnyObject {
  /// What it brings into a link.
  var linkEnd: SimulatedLink.End { get }
  /// The time from an attempt's beginning to its outcome.
  func connectDelay() -> Duration
  /// Whether it responds to this attempt.
  func answersConnect() -> Bool
  /// Receives its side of a new link.
  func accept(_ link: SimulatedLink)
}

/// One advertisement on the air.
final class Advertiser {
  /// Its sender: phones visit adapters only.
  enum Kind { case device, adapter }

  let kind: Kind
  /// The address of the moment.
  var address: DeviceAddress { privateAddress?.address ?? identity }
  /// The PHY on which it is heard.
  let phy: PHY
  /// What is advertised, and how often.
  var parameters: AdvertisingParameters
  /// The party to connect to.
  private(set) weak var owner: (any Connectable)?

  /// Its index on the air; nil while it is not on the air.
  var place: Int?

  private let identity: DeviceAddress
  private let privateAddress: PrivateAddress?
  private unowned let air: Air
  private let signal: Signal
  private let reportLoss: Double
  private var generator: SeededGenerator
  private var alarm: (any ScheduledWork)?

  /// The random delay that is added to the interval each time (Core 5.4, Vol 6, Part B, 4.4.2.2.1).
  private static let delay: ClosedRange<Duration> = .zero...(.milliseconds(10))

  init(
    _ kind: Kind, owner: any Connectable, parameters: AdvertisingParameters, phy: PHY = .le1M,
    privateAddress: PrivateAddress? = nil, reportLoss: Double = 0, stream: UInt64, air: Air
  ) {
    self.kind = kind
    self.phy = phy
    self.owner = owner
    self.parameters = parameters
    self.reportLoss = reportLoss
    self.air = air
    identity = owner.linkEnd.address
    self.privateAddress = privateAddress
    signal = owner.linkEnd.signal
    generator = air.generator(stream)
  }

  /// True if it answers scan requests: all but those that can neither be connected to nor have anything to answer.
  var isScannable: Bool { parameters.isConnectable || !parameters.scanResponse.isEmpty }

  /// Sets whether anyone listens; it sends only then.
  func setAudience(_ isThere: Bool) {
    guard isThere else {
      alarm?.cancel()
      alarm = nil
      return
    }
    // A listener starts at any point between two advertisements.
    if alarm == nil { arm(after: generator.duration(in: .zero...parameters.interval)) }
  }

  private func arm(after time: Duration) {
    alarm = air.scheduler.schedule(after: time) { [weak self] in
      guard let self else { return }
      arm(after: parameters.interval + generator.duration(in: Self.delay))
      air.transmit(self)
    }
  }

  /// The signal strength at a listener; nil if it misses this advertisement.
  func reception() -> Int? {
    guard !generator.chance(reportLoss) else { return nil }
    return signal.next()
  }
}
