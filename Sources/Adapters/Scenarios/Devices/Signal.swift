import Bluetooth

/// The received signal strength: noise from packet to packet on top of a slow drift.
package final class Signal {
  /// Its strength.
  package var description: SignalDescription
  private var generator: SeededGenerator
  private var drift = 0.0

  /// The limit of the drift, in dB.
  private static let farthest = 15.0

  package init(_ description: SignalDescription, generator: SeededGenerator) {
    self.description = description
    self.generator = generator
  }

  /// The strength of the next packet, −127 to +20 dBm.
  package func next() -> Int {
    let step = generator.number(in: -description.walk...description.walk)
    drift = min(max(drift + step, -Self.farthest), Self.farthest)
    let noise = generator.number(in: -description.noise...description.noise)
    return Int(min(max(description.base + drift + noise, -127), 20).rounded())
  }
}
