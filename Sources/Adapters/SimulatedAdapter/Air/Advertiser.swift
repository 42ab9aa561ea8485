import Adapter
import Bluetooth
import Scenarios

/// The party behind a connectable advertisement.
protocol Connectable: AnyObject {
  /// The advertiser's end of a link.
  var linkEnd: SimulatedLink.End { get }
  /// The time from an attempt's beginning to its outcome.
  func connectDelay() -> Duration
  /// True if it responds to this attempt.
  func answersConnect() -> Bool
  /// Receives its side of a new link.
  func accept(_ link: SimulatedLink)
}

/// One advertisement on the air.
final class Advertiser {
  /// Its sender: phones visit adapters only.
  enum Kind { case device, adapter }

  let kind: Kind
  /// The present address.
  var address: DeviceAddress { parameters.ownAddress ?? privateAddress?.address ?? identity }
  /// The PHY on which it is sent.
  let phy: PHY
  /// The number of its advertising set.
  let sid: UInt8
  /// The data and the interval.
  var parameters: AdvertisingParameters
  /// The party to connect to.
  private(set) weak var owner: (any Connectable)?
  /// Called when it has completed.
  var onEnd: ((AdvertisingEnd) -> Void)?

  /// The subevents of its train; nil if it has none, or is not on the air.
  var subevents: SimulatedSubevents?
  /// The train that it sends beside its advertisements; nil for none.
  var train: PeriodicTrain? { parameters.periodic.map { _ in PeriodicTrain(address: address, sid: sid) } }

  /// Its index on the air; nil while it is not on the air.
  var place: Int?

  private let identity: DeviceAddress
  private let privateAddress: PrivateAddress?
  private unowned let air: Air
  private let signal: Signal
  /// The probability that an advertisement is not received.
  var reportLoss: Double
  private var generator: SeededGenerator
  private var alarm: (any ScheduledWork)?
  private var eventsSent = 0
  /// The end of the high duty cycle.
  private var end: Instant?

  /// The random delay that is added to the interval each time (Core 5.4, Vol 6, Part B, 4.4.2.2.1).
  private static let delay: ClosedRange<Duration> = .zero...(.milliseconds(10))

  init(
    _ kind: Kind, owner: any Connectable, parameters: AdvertisingParameters, phy: PHY = .le1M,
    privateAddress: PrivateAddress? = nil, reportLoss: Double = 0, sid: UInt8 = 0, stream: UInt64, air: Air
  ) {
    self.kind = kind
    self.phy = phy
    self.sid = sid
    self.owner = owner
    self.parameters = parameters
    self.reportLoss = reportLoss
    self.air = air
    identity = owner.linkEnd.address
    self.privateAddress = privateAddress
    signal = owner.linkEnd.signal
    generator = air.generator(stream)
  }

  /// True if a party at this address may process it.
  func concerns(_ address: DeviceAddress) -> Bool { parameters.target.map { $0 == address } ?? true }

  /// Sets whether there is a listener; it sends only then, or if it counts events.
  func setAudience(_ isThere: Bool) {
    guard isThere || place != nil && parameters.endsByItself else {
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
      if parameters.isHighDuty {
        arm(after: Self.highDutyInterval)
      } else {
        arm(after: parameters.interval + generator.duration(in: Self.delay))
      }
      air.transmit(self)
      countEvent()
    }
  }

  /// The longest interval of the high duty cycle (Core 5.4, Vol 6, Part B, 4.4.2.4.3).
  private static let highDutyInterval = Duration.microseconds(3750)

  private func countEvent() {
    eventsSent += 1
    if let maximum = parameters.maximumEvents, place != nil, eventsSent >= Int(maximum) {
      onEnd?(.count)
      return
    }
    guard parameters.isHighDuty, place != nil else { return }
    let now = air.scheduler.now
    let end = end ?? now.advanced(by: AdvertisingParameters.highDutyDuration)
    self.end = end
    if end <= now { onEnd?(.duration) }
  }

  /// The signal strength at a listener; nil if it misses this advertisement.
  func reception() -> Int? {
    guard !generator.chance(reportLoss) else { return nil }
    return signal.next()
  }
}
