import Bluetooth
import FoundationEssentials
import TestSupport
import Testing

/// Three adapters with our own hosts on one air, with random actions of users and controllers: no packet is lost or
/// repeated, each call has one outcome, and nothing remains.
///
/// `HOST_SEED=n` repeats a walk, `HOST_SEED=random` makes another one, `HOST_HOURS=n` walks for longer.
@Suite struct HostDayTests {
  /// The virtual time of the ordinary walk, in hours.
  private static let usual = 0.5

  @Test("a day of hosts and controllers", .timeLimit(.minutes(60)))
  func day() throws {
    let hours = ProcessInfo.processInfo.environment["HOST_HOURS"].flatMap(Double.init) ?? Self.usual
    let seed = Seed.named("HOST_SEED", otherwise: 2026)
    let day = try HostDay(seed: seed)
    day.begin()
    for _ in 0..<Int(hours * 10) where day.course.faults.isEmpty {
      day.walk(.seconds(240))
      day.rest()
    }
    if day.course.faults.isEmpty { day.end() }
    print(day.course.counters.sorted { $0.key < $1.key }.map { "  \($0.key): \($0.value)" }.joined(separator: "\n"))
    #expect(
      day.course.faults.isEmpty,
      "HOST_SEED=\(seed) repeats this:\n\(day.course.faults.prefix(10).joined(separator: "\n"))")
    for subject in ["encryptions", "packets of channels heard", "raise: done"] {
      #expect(day.course.counters[subject, default: 0] > 0, "\(subject)")
    }
  }
}
