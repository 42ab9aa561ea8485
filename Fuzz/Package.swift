// swift-tools-version: 6.2
import PackageDescription

// A package of its own: everything in it, the daemon's own files behind the links included, is built with the
// sanitizers. `./run` builds and runs it; the linker needs the archive of libFuzzer, which `./run` finds in the
// toolchain.

// Long searches are done without the address sanitizer: five times as many inputs in the same time.
let isPlain = Context.environment["FUZZ_ADDRESS"] == "no"
let instrumented: [SwiftSetting] = [.unsafeFlags(["-sanitize=\(isPlain ? "fuzzer" : "fuzzer,address")"])]
let sanitized: [LinkerSetting] = isPlain ? [] : [.unsafeFlags(["-sanitize=address"])]
let linked: [LinkerSetting] = sanitized + [.linkedLibrary("stdc++")]

let logging: Target.Dependency = .product(name: "Logging", package: "swift-log")
let deque: Target.Dependency = .product(name: "DequeModule", package: "swift-collections")
let heap: Target.Dependency = .product(name: "HeapModule", package: "swift-collections")
let ordered: Target.Dependency = .product(name: "OrderedCollections", package: "swift-collections")

func fuzzTarget(_ name: String, _ dependencies: Target.Dependency...) -> Target {
  .executableTarget(
    name: name, dependencies: dependencies + ["Bluetooth", "Fuzzing"], swiftSettings: instrumented,
    linkerSettings: linked)
}

let package = Package(
  name: "bled-fuzz",
  dependencies: [
    .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
  ],
  targets: [
    // Links to the daemon's modules.
    .target(name: "Bluetooth", swiftSettings: instrumented),
    .target(name: "Beacons", dependencies: ["Bluetooth"], path: "Sources/BeaconFormats", swiftSettings: instrumented),
    .target(name: "AssignedValues", dependencies: ["Bluetooth"], swiftSettings: instrumented),
    .target(name: "ValueFormats", dependencies: ["AssignedValues", "Bluetooth"], swiftSettings: instrumented),
    .target(name: "ATT", dependencies: ["Bluetooth"], swiftSettings: instrumented),
    .target(name: "GATT", dependencies: ["ATT", "Bluetooth"], swiftSettings: instrumented),
    .target(name: "HCI", dependencies: ["Bluetooth"], swiftSettings: instrumented),
    .target(name: "Capture", dependencies: ["HCI", "ATT", "Bluetooth"], swiftSettings: instrumented),
    .target(name: "MIDI", dependencies: ["Bluetooth"], swiftSettings: instrumented),
    .target(name: "BledRPC", dependencies: ["Bluetooth"], swiftSettings: instrumented),
    .target(name: "COpenRPC", exclude: ["openrpc.json"], cSettings: [.headerSearchPath(".")]),
    .target(name: "JSONFiles", dependencies: ["Bluetooth"], swiftSettings: instrumented),
    .target(name: "ScenarioRules", dependencies: ["JSONFiles", "Bluetooth"], swiftSettings: instrumented),
    .systemLibrary(name: "CNettle"),
    .target(name: "BluetoothCrypto", dependencies: ["Bluetooth", "CNettle"], swiftSettings: instrumented),
    .target(name: "MCUmgr", dependencies: ["BluetoothCrypto", "Bluetooth"], swiftSettings: instrumented),
    .target(
      name: "NordicDFU", dependencies: ["BluetoothCrypto", "JSONFiles", "Bluetooth"], swiftSettings: instrumented),
    .systemLibrary(name: "CSystemd", pkgConfig: "libsystemd"),
    .target(name: "EventLoop", dependencies: ["CSystemd", "Bluetooth", heap], swiftSettings: instrumented),
    .target(name: "Adapter", dependencies: ["Bluetooth", deque, heap, ordered], swiftSettings: instrumented),
    .target(
      name: "Radio", dependencies: ["Adapter", "HCI", "Bluetooth", deque, ordered], swiftSettings: instrumented),
    .target(
      name: "Scenarios",
      dependencies: [
        "ScenarioRules", "Adapter", "GATT", "ATT", "JSONFiles", "MCUmgr", "NordicDFU", "Bluetooth", "BluetoothCrypto",
        deque,
      ],
      swiftSettings: instrumented),
    .target(
      name: "SimulatedAdapter",
      dependencies: [
        "Scenarios", "ScenarioRules", "Adapter", "HCI", "Bluetooth", "BluetoothCrypto", logging, deque,
      ],
      swiftSettings: instrumented),
    .target(
      name: "BledCore",
      dependencies: [
        "Adapter", "GATT", "ATT", "Capture", "Beacons", "BluetoothCrypto", "BledRPC", "COpenRPC", "JSONFiles",
        "Bluetooth", "EventLoop", logging, deque, heap, ordered,
      ],
      swiftSettings: instrumented),

    .target(name: "Noise", dependencies: ["BluetoothCrypto", "CNettle"], swiftSettings: instrumented),
    .target(name: "BledConnection", dependencies: ["BledRPC", "Bluetooth"], swiftSettings: instrumented),
    .target(
      name: "ESPHome", dependencies: ["BledConnection", "BledRPC", "Noise", "Bluetooth"],
      swiftSettings: instrumented),
    .target(name: "BlueZ", dependencies: ["BledConnection", "BledRPC", "Bluetooth"], swiftSettings: instrumented),
    .target(
      name: "MQTTGateway",
      dependencies: ["BledConnection", "BledRPC", "JSONFiles", "AssignedValues", "ValueFormats", "Bluetooth", deque],
      swiftSettings: instrumented),
    .target(
      name: "SessionTestSupport", dependencies: ["BledConnection", "BledRPC", "Bluetooth"],
      swiftSettings: instrumented),

    .target(name: "CLibFuzzer"),
    .target(name: "Fuzzing", dependencies: ["CLibFuzzer", "GATT", "Bluetooth"], swiftSettings: instrumented),
    .target(
      name: "SessionFuzzing", dependencies: ["SessionTestSupport", "Fuzzing", "Adapter", "BledRPC", "Bluetooth"],
      swiftSettings: instrumented),
    fuzzTarget("acl", "HCI", deque),
    fuzzTarget("att-server", "ATT", "GATT"),
    fuzzTarget("att-client", "ATT", "GATT"),
    fuzzTarget("advertising", "AssignedValues"),
    fuzzTarget("beacons", "Beacons", "BluetoothCrypto"),
    fuzzTarget(
      "esphome", "ESPHome", "BledConnection", "BledRPC", "Noise", "Adapter", "SessionTestSupport", "SessionFuzzing"),
    fuzzTarget(
      "mqtt", "MQTTGateway", "BledConnection", "BledRPC", "Adapter", "JSONFiles", "SessionTestSupport", "SessionFuzzing"
    ),
    fuzzTarget("dfu", "NordicDFU"),
    fuzzTarget("hci", "HCI"),
    fuzzTarget("http"),
    fuzzTarget("controller", "Adapter", "HCI", "Radio", deque),
    fuzzTarget("l2cap", "Adapter", "HCI", deque),
    fuzzTarget("mcumgr", "MCUmgr"),
    fuzzTarget("mgmt", "HCI"),
    fuzzTarget("midi", "MIDI"),
    fuzzTarget("nearby", "Noise", "BluetoothCrypto"),
    fuzzTarget("capture", "Capture"),
    fuzzTarget("rpc", "BledRPC"),
    fuzzTarget("border", "Adapter", "BledCore", "BledRPC", "Scenarios", "SimulatedAdapter", logging),
    fuzzTarget(
      "bus", "Adapter", "BledCore", "BledRPC", "BledConnection", "BlueZ", "Scenarios", "SimulatedAdapter", logging),
    fuzzTarget("configuration", "BledCore", "JSONFiles"),
    fuzzTarget(
      "scenario", "Adapter", "BledRPC", "GATT", "JSONFiles", "ScenarioRules", "MCUmgr", "NordicDFU", logging),
    fuzzTarget("smp", "HCI", "Adapter", "BluetoothCrypto"),
    fuzzTarget("values", "AssignedValues", "ValueFormats"),
    fuzzTarget("store", "BledRPC", "GATT"),
  ],
  swiftLanguageModes: [.v6]
)
