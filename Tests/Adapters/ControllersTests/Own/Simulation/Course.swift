import Adapter
import Bluetooth
import TestSupport
import VirtualController

/// The course of a day: its air, its source of chance, and the counts and faults so far.
final class Course {
  let scheduler: VirtualScheduler
  let air: Air
  var hosts: [RandomHost] = []
  private var random: SeededRandom
  /// The rules that hosts have broken.
  private(set) var faults: [String] = []
  private(set) var counters: [String: Int] = [:]

  init(_ scheduler: VirtualScheduler, seed: UInt64) {
    self.scheduler = scheduler
    air = Air(scheduler: scheduler, seed: seed)
    random = SeededRandom(seed: seed)
    air.onFault = { [unowned self] in fault($0) }
  }

  func number(in range: ClosedRange<Int>) -> Int { .random(in: range, using: &random) }
  func chance(_ percent: Int) -> Bool { number(in: 1...100) <= percent }
  func any<Element>(of all: [Element]) -> Element? { all.randomElement(using: &random) }

  /// Does something within a range of milliseconds.
  func after(_ milliseconds: ClosedRange<Int>, _ work: @escaping () -> Void) {
    _ = scheduler.schedule(after: .milliseconds(number(in: milliseconds)), work)
  }

  func fault(_ words: String) {
    faults.append("at \(Int(Instant.zero.duration(to: scheduler.now).inSeconds)) s: \(words)")
  }
  func count(_ subject: String, _ number: Int = 1) { counters[subject, default: 0] += number }
}
