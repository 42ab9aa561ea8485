import Adapter
import Bluetooth
import Scenarios

/// The reception of a device: the strength of its packets, and the losses of its advertisements.
final class Reception {
  private let signal: Signal
  private var loss: Double
  private var generator: SeededGenerator

  init(_ description: DeviceDescription, in context: SimulationContext) {
    signal = Signal(description.signal, generator: context.generator(Stream.signal.of(description.address)))
    loss = description.losses.report
    generator = context.generator(Stream.losses.of(description.address))
  }

  /// The strength of the next packet on a link, in dBm.
  func strength() -> Int { signal.next() }

  /// The strength of the next advertisement at a listener, in dBm; nil if it is lost.
  func next() -> Int? { generator.chance(loss) ? nil : signal.next() }

  func change(_ change: DeviceChange) {
    if let new = change.signal { signal.description = new }
    if let new = change.losses { loss = new.report }
  }
}
