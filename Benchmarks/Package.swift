// swift-tools-version: 6.2
import PackageDescription

// A package of its own, so that nobody who builds bled pays for it. `./run` builds and runs everything in it.

let parts: Target.Dependency = .product(name: "BledParts", package: "bled")
let deque: Target.Dependency = .product(name: "DequeModule", package: "swift-collections")

let package = Package(
  name: "bled-benchmarks",
  dependencies: [
    .package(name: "bled", path: ".."),
    .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    // Without its traits it needs no jemalloc; allocations are counted by CAllocations instead.
    .package(url: "https://github.com/ordo-one/benchmark", from: "1.38.1", traits: []),
  ],
  targets: [
    .target(name: "CAllocations"),
    .executableTarget(
      name: "Micro", dependencies: [parts, "CAllocations", .product(name: "Benchmark", package: "benchmark")],
      path: "Benchmarks/Micro", plugins: [.plugin(name: "BenchmarkPlugin", package: "benchmark")]),
    // PacketSocket and Descriptor are links to the daemon's own files.
    .executableTarget(name: "att-server", dependencies: [parts, deque]),
    .executableTarget(name: "att-load"),
    .executableTarget(
      name: "bench-daemon", dependencies: [parts, .product(name: "Logging", package: "swift-log")]),
    .executableTarget(name: "daemon-load"),
    .executableTarget(
      name: "nearby-load",
      dependencies: [.product(name: "BledClient", package: "bled"), .product(name: "NearbySessions", package: "bled")]),
  ],
  swiftLanguageModes: [.v6]
)
