import Adapter
import Bluetooth

/// The repeated sending of an advertisement: by an advertising set of a controller, or by a device that only
/// advertises, which is nothing but this.
package final class Broadcast {
  package var advertisement: Advertisement
  /// The time between two advertisements, without the random delay.
  package var interval: Duration
  /// Returns the signal strength of the next advertisement at a listener, in dBm; nil if it is lost.
  package var signal: () -> Int? = { -60 }
  /// Nil for a device that only advertises.
  weak var sender: VirtualController?
  /// Called after each advertisement; nil if it counts none.
  var onSent: (() -> Void)?
  /// A controller that receives it; nil without any.
  weak var receiver: VirtualController?
  /// The time at which it answers a connection request that was made earlier; nil without one.
  var answer: Instant?
  /// Its index on the air; nil while it is not on the air.
  var place: Int?

  private var generator: SeededGenerator
  private var alarm: (any ScheduledWork)?

  /// The random delay that is added to the interval each time (Core 5.4, Vol 6, Part B, 4.4.2.2.1).
  private static let delay: ClosedRange<Duration> = .zero...(.milliseconds(10))

  /// - Parameters:
  ///   - seed: the source of its random delays.
  ///   - stream: its number among the users of that seed.
  package init(_ advertisement: Advertisement, every interval: Duration, seed: UInt64, stream: UInt64) {
    self.advertisement = advertisement
    self.interval = interval
    generator = SeededGenerator(seed: seed, stream: stream)
  }

  /// Sends, or not: an advertisement without a receiver and without a count costs nothing.
  func setSending(_ isSending: Bool, on air: Air) {
    guard isSending else {
      alarm?.cancel()
      alarm = nil
      return
    }
    // A listener begins at any point between two advertisements.
    if alarm == nil { arm(after: generator.duration(in: .zero...interval), on: air) }
  }

  private func arm(after time: Duration, on air: Air) {
    alarm = air.scheduler.schedule(after: time) { [weak self, weak air] in
      guard let self, let air else { return }
      arm(after: interval + generator.duration(in: Self.delay), on: air)
      air.transmit(self)
      onSent?()
    }
  }
}
