import ATT
import Adapter
import Bluetooth

/// The faults of one device while it is connected: it falls silent, sends invalid packets, changes its services.
final class Misbehaviour {
  private unowned let air: Air
  private let faults: DeviceDescription.Faults
  private let changeServices: () -> Void
  private var generator: SeededGenerator
  private var alarm: (any ScheduledWork)?
  /// When it falls silent on this link.
  private var silence: Instant?

  /// Makes the faults of a device; nil if it has none.
  /// - Parameter changeServices: called each time that its services are to change.
  init?(_ description: DeviceDescription, air: Air, changeServices: @escaping () -> Void) {
    faults = description.faults
    guard faults.nonsense > 0 || faults.mute != nil || faults.changeServices != nil else { return nil }
    self.air = air
    self.changeServices = changeServices
    generator = air.generator(Stream.faults.of(description.address))
  }

  /// A link came up.
  func linkIsUp() {
    silence = faults.mute.map { air.scheduler.now.advanced(by: $0.draw(&generator)) }
    setAlarm()
  }

  /// The link has ended.
  func linkIsDown() {
    alarm?.cancel()
    alarm = nil
  }

  private func setAlarm() {
    alarm?.cancel()
    guard let time = faults.changeServices?.draw(&generator) else { return }
    alarm = air.scheduler.schedule(after: max(time, .milliseconds(1))) { [weak self] in
      self?.changeServices()
      self?.setAlarm()
    }
  }

  /// The packet to send in place of this one; nil for none.
  func distort(_ packet: [UInt8]) -> [UInt8]? {
    if let silence, silence <= air.scheduler.now { return nil }
    guard generator.chance(faults.nonsense) else { return packet }
    // As long as what it replaces, so that it fits the link.
    return packet.map { _ in UInt8(truncatingIfNeeded: generator.next()) }
  }
}

/// Drops notified values of one device, as if the adapter had no room for them.
final class ValueLoss {
  private let probability: Double
  private var generator: SeededGenerator

  /// - Parameter probability: that a value is lost, 0 to 1; for 0 the result is nil.
  init?(_ probability: Double, generator: SeededGenerator) {
    guard probability > 0 else { return nil }
    self.probability = probability
    self.generator = generator
  }

  /// Whether this packet is a value that is lost. All others arrive: a link without one of its answers is of no use.
  func takes(_ packet: [UInt8]) -> Bool {
    packet.first == ATTOpcode.handleValueNotification.rawValue && generator.chance(probability)
  }
}
