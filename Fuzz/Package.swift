// swift-tools-version: 6.1
import PackageDescription

// A package of its own: everything in it, the daemon's own files behind the links included, is built with the
// sanitizers. `./run` builds and runs it; the linker needs the archive of libFuzzer, which `./run` finds in the
// toolchain.

let instrumented: [SwiftSetting] = [.unsafeFlags(["-sanitize=fuzzer,address"])]
let linked: [LinkerSetting] = [.unsafeFlags(["-sanitize=address"]), .linkedLibrary("stdc++")]

let logging: Target.Dependency = .product(name: "Logging", package: "swift-log")

func fuzzTarget(_ name: String, _ dependencies: Target.Dependency...) -> Target {
  .executableTarget(
    name: name, dependencies: dependencies + ["Bluetooth", "Fuzzing"], swiftSettings: instrumented,
    linkerSettings: linked)
}

let package = Package(
  name: "bled-fuzz",
  dependencies: [.package(url: "https://github.com/apple/swift-log", from: "1.16.2")],
  targets: [
    // Links to the daemon's modules.
    .target(name: "Bluetooth", swiftSettings: instrumented),
    .target(name: "ATT", dependencies: ["Bluetooth"], swiftSettings: instrumented),
    .target(name: "GATT", dependencies: ["ATT", "Bluetooth"], swiftSettings: instrumented),
    .target(name: "HCI", dependencies: ["Bluetooth"], swiftSettings: instrumented),
    .target(name: "BledRPC", dependencies: ["Bluetooth"], swiftSettings: instrumented),
    .target(name: "JSONFiles", dependencies: ["Bluetooth"], swiftSettings: instrumented),

    .target(name: "CLibFuzzer"),
    .target(name: "Fuzzing", dependencies: ["CLibFuzzer", "GATT", "Bluetooth"], swiftSettings: instrumented),
    fuzzTarget("att-server", "ATT", "GATT"),
    fuzzTarget("att-client", "ATT", "GATT"),
    fuzzTarget("advertising"),
    fuzzTarget("hci", "HCI"),
    fuzzTarget("mgmt", "HCI"),
    fuzzTarget("rpc", "BledRPC"),
    fuzzTarget("scenario", "BledRPC", "GATT", "JSONFiles", logging),
    fuzzTarget("store", "BledRPC", "GATT"),
  ],
  swiftLanguageModes: [.v6]
)
