import Adapter
import Bluetooth

/// The clock, the chance and the log shared by the devices of a simulation.
///
/// All time comes from one scheduler and all chance from one seed. Each purpose draws from a stream of its own, so the
/// same scenario and seed give the same events in the same order.
package final class SimulationContext {
  package let scheduler: any Scheduler
  /// The source of all chance.
  package let seed: UInt64
  /// The writes to devices.
  package internal(set) var writes = WriteLog()
  private let beginning: Instant

  package init(scheduler: any Scheduler, seed: UInt64) {
    (self.scheduler, self.seed) = (scheduler, seed)
    beginning = scheduler.now
  }

  /// The age of the simulation, which determines the values.
  package var age: Duration { beginning.duration(to: scheduler.now) }

  /// The random numbers for one purpose.
  package func generator(_ stream: UInt64) -> SeededGenerator { SeededGenerator(seed: seed, stream: stream) }
}

/// The purposes of random numbers for one address: each has a stream of its own.
package enum Stream: UInt64 {
  case behaviour, signal, advertising, values, responses, faults, losses, pairing, privacy, firmware, secrets

  package func of(_ address: DeviceAddress, _ index: Int = 0) -> UInt64 {
    address.value | rawValue << 48 | UInt64(truncatingIfNeeded: index) << 52
  }
}
