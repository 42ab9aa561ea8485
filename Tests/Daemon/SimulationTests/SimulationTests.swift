import Bluetooth
import FoundationEssentials
import TestSupport
import Testing

/// Two hundred clients, two thousand advertisers, fifty links, a day: the rules hold at each step.
///
/// A walk stops at the first failure, and prints the seed that repeats it. `SIM_SEED=n` repeats one, `SIM_SEED=random`
/// makes another one, `SIM_HOURS=n` walks for longer.
struct SimulationTests {
  /// The virtual time of the ordinary walk, in hours: some 45 s on two otherwise idle cores.
  private static let usual = 3.0

  @Test("a day of many programs on two adapters", .timeLimit(.minutes(60)))
  func day() throws {
    let hours = ProcessInfo.processInfo.environment["SIM_HOURS"].flatMap(Double.init) ?? Self.usual
    let seed = Seed.named("SIM_SEED", otherwise: 2026)
    let simulation = try Simulation(seed: seed)
    // Real time: a figure for the report.
    let clock = ContinuousClock()
    let start = clock.now
    simulation.walk(.seconds(hours * 3600))
    simulation.sendEverybodyHome()
    report(simulation, took: (clock.now - start).inSeconds)
    let found = simulation.troubles.prefix(10).joined(separator: "\n")
    #expect(simulation.troubles.isEmpty, "SIM_SEED=\(seed) repeats this:\n\(found)")
    #expect(simulation.counters["connections", default: 0] > 20)
    #expect(simulation.counters["values of a flood", default: 0] > 1000)
  }

  @Test("the same seed gives the same walk", .timeLimit(.minutes(60)))
  func repetition() throws {
    let traces = try (0..<2).map { _ in
      let simulation = try Simulation(seed: 7)
      simulation.walk(.seconds(1200))
      return simulation.trace
    }
    #expect(traces[0] == traces[1])
  }

  private func report(_ simulation: Simulation, took seconds: Double) {
    let hours = Instant.zero.duration(to: simulation.scheduler.now).inSeconds / 3600
    var lines = [
      "simulation: \(Int(hours * 10)) tenths of an hour in \(Int(seconds)) s, trace \(String(simulation.trace, radix: 16))"
    ]
    lines += simulation.counters.sorted { $0.key < $1.key }.map { "  \($0.key): \($0.value)" }
    lines += simulation.longest.sorted { $0.key < $1.key }.map { "  longest \($0.key): \(Int($0.value * 1000)) ms" }
    print(lines.joined(separator: "\n"))
  }
}
