import Benchmark
import CAllocations

// Each figure is of one operation: a thousand of them are timed together. "Allocations" counts calls of malloc and its
// like by this process during them.

let benchmarks: @Sendable () -> Void = {
  Benchmark.defaultConfiguration = .init(
    metrics: [.wallClock, .allocations], timeUnits: .nanoseconds, warmupIterations: 5, scalingFactor: .kilo,
    maxDuration: .seconds(1), maxIterations: 3_000)
  codecBenchmarks()
  serverBenchmarks()
  discoveryBenchmarks()
  advertisingBenchmarks()
  rpcBenchmarks()
}

extension BenchmarkMetric {
  static var allocations: BenchmarkMetric { .custom("Allocations", polarity: .prefersSmaller, useScalingFactor: true) }
}

/// Registers a benchmark of `operation`, which is called again and again on one state.
func measure<State>(
  _ name: String, _ state: @escaping @Sendable () throws -> State,
  _ operation: @escaping @Sendable (inout State) throws -> Void
) {
  Benchmark(name) { benchmark in
    var state = try state()
    try operation(&state)
    let before = allocations()
    benchmark.startMeasurement()
    for _ in benchmark.scaledIterations { try operation(&state) }
    benchmark.stopMeasurement()
    benchmark.measurement(.allocations, Int(allocations() - before))
  }
}
