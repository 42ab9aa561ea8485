import Adapter
import BledCore
import Bluetooth
import EventLoop

/// The daemon's clock, and its source of random numbers.
///
/// With "manual" in a scenario both depend only on its seed and on clients' calls. The store's files, the watchdog, and
/// the timeouts of slow clients and descriptors still use the machine's clock.
final class DaemonClock {
  let scheduler: any Scheduler
  /// The seed for random numbers on the simulated air: the scenario's, if it has one.
  let seed: UInt64
  /// Makes the identifiers of devices; nil for random ones.
  let makeIdentifier: (() -> String)?
  private let manual: ManualScheduler?

  init(_ settings: Settings, loop: EventLoop) {
    let written = settings.adapters.compactMap(\.scenario).first?.seed
    switch settings.clock {
    case .manual:
      let scheduler = ManualScheduler { work in _ = loop.schedule(at: EventLoop.now, work) }
      let seed = written ?? 0
      var count: UInt64 = 0
      makeIdentifier = {
        count += 1
        return Self.identifier(seed: seed, count)
      }
      self.scheduler = scheduler
      self.seed = seed
      manual = scheduler
    case .times(let factor):
      scheduler = FastScheduler(loop, times: factor)
      (seed, makeIdentifier, manual) = (written ?? .random(in: .min ... .max), nil, nil)
    case nil:
      scheduler = loop
      (seed, makeIdentifier, manual) = (written ?? .random(in: .min ... .max), nil, nil)
    }
  }

  /// Moves the clock, if it stands still.
  /// - Returns: false if it runs by itself.
  func advance(by duration: Duration, _ done: @escaping () -> Void) -> Bool {
    manual?.advance(by: duration, done)
    return manual != nil
  }

  /// Does all that is due, if it stands still: its adapters are on before clients can connect.
  func settle() { manual?.settle() }

  /// Advances by the time the daemon's end needs: no client moves the clock any longer.
  func release() { manual?.advance(by: .seconds(60)) {} }

  /// A UUID (version 8, RFC 9562, 5.8) from a seed and a number.
  private static func identifier(seed: UInt64, _ number: UInt64) -> String {
    func hex(_ value: UInt64, _ digits: Int) -> String {
      let text = String(value, radix: 16, uppercase: true)
      return String(repeating: "0", count: max(0, digits - text.utf8.count)) + text.suffix(digits)
    }
    return "\(hex(seed >> 32, 8))-\(hex(seed >> 16, 4))-8\(hex(seed, 3))-8000-\(hex(number, 12))"
  }
}
