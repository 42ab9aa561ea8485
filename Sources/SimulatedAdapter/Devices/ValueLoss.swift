import ATT

/// Notified values of one device for which the adapter has no room.
final class ValueLoss {
  private let probability: Double
  private var generator: SeededGenerator

  /// - Parameter probability: that a value is lost, 0 to 1; nil comes out for 0.
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
