// swift-tools-version: 6.2
import PackageDescription

// Arrows point down only (docs/architecture.md). `make lint` builds with the compiler's explicit target dependency
// check, so an import that is not listed here fails.

let logging: Target.Dependency = .product(name: "Logging", package: "swift-log")
// Not the whole of the package: the linker keeps each module that it is given.
let deque: Target.Dependency = .product(name: "DequeModule", package: "swift-collections")
let heap: Target.Dependency = .product(name: "HeapModule", package: "swift-collections")
let ordered: Target.Dependency = .product(name: "OrderedCollections", package: "swift-collections")
let arguments: Target.Dependency = .product(name: "ArgumentParser", package: "swift-argument-parser")

// Keeps the programs small: no symbols for others to bind to, equal functions once, packed relocations, no tables for
// exceptions.
let small: LinkerSetting = .unsafeFlags(
  ["-use-ld=lld"]
    + [
      "--no-export-dynamic", "--icf=safe", "-z", "pack-relative-relocs",
      "-T", Context.packageDirectory + "/packaging/no-unwind.ld",
    ].flatMap { ["-Xlinker", $0] },
  .when(platforms: [.linux], configuration: .release))

// The storeys, lowest first: a module uses modules of its own storey and of those before it (scripts/check-arrows).
let storeys = [
  // Octets and state machines, no I/O.
  storey(
    "Formats",
    [
      .target(name: "Bluetooth"),
      // The meaning of octets: formats of beacons and sensors, values of characteristics.
      .target(name: "Beacons", dependencies: ["Bluetooth"]),
      .target(name: "AssignedValues", dependencies: ["Bluetooth"]),
      // Formats and names that people give the values of their devices.
      .target(name: "ValueFormats", dependencies: ["AssignedValues", "Bluetooth"]),
      // The services of phones for bonded devices: notifications, media, time.
      .target(name: "PhoneServices", dependencies: ["Bluetooth"]),
      .systemLibrary(name: "CNettle", providers: [.apt(["nettle-dev"])]),
      .target(name: "BluetoothCrypto", dependencies: ["Bluetooth", "CNettle"]),
      // MCUmgr: management and firmware update of devices, and the images of MCUboot.
      .target(name: "MCUmgr", dependencies: ["BluetoothCrypto", "Bluetooth"]),
      // The Noise Protocol Framework: handshakes and the messages after them.
      .target(name: "Noise", dependencies: ["BluetoothCrypto", "CNettle"]),
      .target(name: "HCI", dependencies: ["Bluetooth"]),
      .target(name: "ATT", dependencies: ["Bluetooth"]),
      .target(name: "GATT", dependencies: ["ATT", "Bluetooth"]),
      // Recordings of packets, and what their packets say.
      .target(name: "Capture", dependencies: ["HCI", "ATT", "Bluetooth"]),
      // MIDI over Bluetooth LE: packets, and the times of their messages.
      .target(name: "MIDI", dependencies: ["Bluetooth"]),
      // The JSON files that people write.
      .target(name: "JSONFiles", dependencies: ["Bluetooth"]),
      // The rules of scenarios by which devices' values and answers change.
      .target(name: "ScenarioRules", dependencies: ["JSONFiles", "Bluetooth"]),
      // Nordic's Secure DFU: packages, the requests to boot loaders, and transfers.
      .target(name: "NordicDFU", dependencies: ["BluetoothCrypto", "JSONFiles", "Bluetooth"]),
    ],
    tests: [
      .testTarget(name: "BluetoothTests", dependencies: ["Bluetooth"]),
      .testTarget(name: "BeaconsTests", dependencies: ["Beacons", "Bluetooth"]),
      .testTarget(name: "AssignedValuesTests", dependencies: ["AssignedValues", "Bluetooth"]),
      .testTarget(name: "ValueFormatsTests", dependencies: ["ValueFormats", "AssignedValues", "Bluetooth"]),
      .testTarget(name: "PhoneServicesTests", dependencies: ["PhoneServices", "Bluetooth"]),
      .testTarget(name: "MIDITests", dependencies: ["MIDI", "Bluetooth"]),
      .testTarget(name: "JSONFilesTests", dependencies: ["JSONFiles", "Bluetooth"]),
      .testTarget(name: "ScenarioRulesTests", dependencies: ["ScenarioRules", "JSONFiles", "Bluetooth"]),
      .testTarget(name: "BluetoothCryptoTests", dependencies: ["BluetoothCrypto", "Bluetooth"]),
      .testTarget(name: "MCUmgrTests", dependencies: ["MCUmgr", "BluetoothCrypto", "Bluetooth", "TestSupport"]),
      .testTarget(
        name: "NordicDFUTests", dependencies: ["NordicDFU", "BluetoothCrypto", "Bluetooth", "TestSupport"]),
      .testTarget(name: "NoiseTests", dependencies: ["Noise", "Bluetooth"]),
      .testTarget(name: "ATTTests", dependencies: ["ATT", "Bluetooth"]),
      .testTarget(name: "GATTTests", dependencies: ["GATT", "ATT", "BluetoothCrypto", "Bluetooth"]),
      .testTarget(name: "HCITests", dependencies: ["HCI", "Bluetooth"]),
      .testTarget(name: "CaptureTests", dependencies: ["Capture", "HCI", "Bluetooth"]),
      .testTarget(name: "ConformanceTests", dependencies: ["HCI", "ATT", "GATT", "BluetoothCrypto", "Bluetooth"]),
    ]),
  // The machine: its event loop, and sockets of the kernel.
  storey(
    "System",
    [
      .systemLibrary(name: "CSystemd", pkgConfig: "libsystemd", providers: [.apt(["libsystemd-dev"])]),
      // The one event loop of a process; knows nothing of Bluetooth but its clock.
      .target(name: "EventLoop", dependencies: ["CSystemd", "Bluetooth", heap]),
      .target(name: "CBlueZ"),
    ],
    tests: [
      .testTarget(name: "EventLoopTests", dependencies: ["EventLoop", "TestSupport"])
    ]),
  // The seam, and the adapters behind it.
  storey(
    "Adapters",
    [
      .target(name: "Adapter", dependencies: ["Bluetooth", deque, heap, ordered]),
      // Scan, advertising and links of one controller: machines, no I/O.
      .target(name: "Radio", dependencies: ["HCI", "Adapter", "Bluetooth", deque, ordered]),
      // A host of our own over HCI: transports' framing, commands, data, L2CAP and the Security Manager, without I/O.
      .target(
        name: "Host", dependencies: ["Radio", "Adapter", "HCI", "Bluetooth", "BluetoothCrypto", deque, ordered]),
      // Controllers over HCI behind the seam: those of the kernel, and those of which bled is the host.
      .target(
        name: "Controllers",
        dependencies: [
          "Host", "Radio", "Adapter", "HCI", "CBlueZ", "Bluetooth", "BluetoothCrypto", "EventLoop", logging, deque,
        ]),
      // Controllers on an air, in memory.
      .target(
        name: "VirtualController", dependencies: ["Controllers", "Adapter", "HCI", "Bluetooth", deque]),
      // Scenario files, and their devices and phones above a link.
      .target(
        name: "Scenarios",
        dependencies: [
          "ScenarioRules", "Adapter", "GATT", "ATT", "JSONFiles", "MCUmgr", "NordicDFU", "Bluetooth", "BluetoothCrypto",
          deque,
        ]),
      .target(
        name: "SimulatedAdapter",
        dependencies: [
          "Scenarios", "ScenarioRules", "Adapter", "HCI", "Bluetooth", "BluetoothCrypto", logging, deque,
        ]),
      // Devices and phones of scenarios as hosts of our own on virtual controllers.
      .target(
        name: "VirtualDevices",
        dependencies: [
          "Scenarios", "ScenarioRules", "VirtualController", "Controllers", "Host", "Adapter", "HCI", "Bluetooth",
          "BluetoothCrypto", logging, deque,
        ]),
    ],
    tests: [
      .testTarget(name: "AdapterTests", dependencies: ["Adapter", "Bluetooth"]),
      .testTarget(name: "RadioTests", dependencies: ["Radio", "Adapter", "HCI", "Bluetooth"]),
      .testTarget(
        name: "HostTests", dependencies: ["Host", "Radio", "Adapter", "HCI", "Bluetooth", "BluetoothCrypto"]),
      .testTarget(
        name: "ControllersTests",
        dependencies: [
          "VirtualController", "Controllers", "Host", "Radio", "Adapter", "HCI", "Bluetooth", "BluetoothCrypto",
          "EventLoop", "TestSupport",
        ]),
      .testTarget(
        name: "VirtualControllerTests",
        dependencies: ["VirtualController", "Controllers", "Adapter", "HCI", "Bluetooth", "TestSupport"]),
      .testTarget(name: "ScenariosTests", dependencies: ["Scenarios", "Adapter", "JSONFiles", "Bluetooth"]),
      .testTarget(
        name: "VirtualDevicesTests",
        dependencies: [
          "VirtualDevices", "VirtualController", "Scenarios", "Controllers", "Adapter", "GATT", "JSONFiles",
          "Bluetooth",
          "TestSupport",
        ]),
      .testTarget(
        name: "SimulatedAdapterTests",
        dependencies: [
          "SimulatedAdapter", "VirtualDevices", "Scenarios", "ScenarioRules", "Adapter", "GATT", "JSONFiles", "MCUmgr",
          "NordicDFU", "Bluetooth", "TestSupport", logging,
        ]),
    ]),
  // The daemon, and the messages of its socket.
  storey(
    "Daemon",
    [
      .target(name: "BledRPC", dependencies: ["Bluetooth"]),
      // docs/openrpc.json as data.
      .target(name: "COpenRPC", exclude: ["openrpc.json"], cSettings: [.headerSearchPath(".")]),
      // The commit that a program was built from, written into the finished program by scripts/dist.
      .target(name: "CBuild"),
      .target(name: "BuildIdentity", dependencies: ["BledRPC", "CBuild"]),
      // Writes docs/openrpc.json; `make reference` runs it.
      .executableTarget(name: "openrpc", dependencies: ["BledRPC", "Bluetooth"]),
      .target(
        name: "BledCore",
        dependencies: [
          "Adapter", "GATT", "ATT", "Capture", "Beacons", "BluetoothCrypto", "BledRPC", "COpenRPC", "JSONFiles",
          "Bluetooth", "EventLoop", logging, deque, heap, ordered,
        ]),
      .executableTarget(
        name: "bled",
        dependencies: [
          "BledCore", "BledRPC", "BuildIdentity", "Controllers", "SimulatedAdapter", "VirtualDevices", "Scenarios",
          "Adapter", "Bluetooth",
          "EventLoop",
          "CSystemd", logging, arguments,
        ],
        linkerSettings: [small]),
    ],
    tests: [
      .testTarget(name: "BledRPCTests", dependencies: ["BledRPC", "Bluetooth"]),
      .testTarget(name: "OpenRPCTests", dependencies: ["openrpc", "BledRPC", "Bluetooth"]),
      .testTarget(
        name: "BledCoreTests",
        dependencies: [
          "BledCore", "Adapter", "GATT", "ATT", "Capture", "BledRPC", "JSONFiles", "Bluetooth", "BluetoothCrypto",
          "Controllers", "VirtualController", "EventLoop", "TestSupport", "openrpc", logging,
        ]),
      .testTarget(name: "BledTests", dependencies: ["bled", "BledCore", "Bluetooth", "TestSupport", logging]),
      // Many clients and devices under virtual time.
      .testTarget(
        name: "SimulationTests",
        dependencies: [
          "BledCore", "SimulatedAdapter", "Scenarios", "Adapter", "BledRPC", "Bluetooth", "TestSupport", logging,
        ]),
      // Runs the programs that were built beside it.
      .testTarget(name: "ProcessTests", dependencies: ["PhoneServices", "BledRPC", "Bluetooth", "TestSupport"]),
    ]),
  // Connections to the daemon.
  storey(
    "Clients",
    [
      // The connection to the daemon, on an event loop or a queue of its owner: sockets, lines, calls and sessions.
      .target(name: "BledConnection", dependencies: ["BledRPC", "Bluetooth"]),
      .target(name: "BledClient", dependencies: ["BledConnection", "BledRPC", "Bluetooth"]),
      // The common parts of the gateways' processes: sockets on their event loop, options, log and report.
      .target(name: "BledLoop", dependencies: ["BledConnection", "BledRPC", "Bluetooth", "EventLoop", arguments]),
    ],
    tests: [
      .testTarget(name: "BledConnectionTests", dependencies: ["BledConnection", "BledRPC", "Bluetooth"]),
      .testTarget(name: "BledClientTests", dependencies: ["BledClient", "BledRPC", "Bluetooth", "TestSupport"]),
    ]),
  // The programs that pass on to others what the daemon offers.
  storey(
    "Gateways",
    [
      // org.bluez on D-Bus: the object tree and its translation, without I/O.
      .target(name: "BlueZ", dependencies: ["BledConnection", "BledRPC", "Bluetooth"]),
      .executableTarget(
        name: "bled-bluez",
        dependencies: [
          "BlueZ", "BledLoop", "BledConnection", "BledRPC", "BuildIdentity", "Bluetooth", "EventLoop", "CSystemd",
          arguments,
        ],
        linkerSettings: [small]),
      .systemLibrary(name: "CMosquitto", pkgConfig: "libmosquitto", providers: [.apt(["libmosquitto-dev"])]),
      // Reports and values of devices to an MQTT broker: topics, messages, spool and links, without I/O.
      .target(
        name: "MQTTGateway",
        dependencies: [
          "BledConnection", "BledRPC", "JSONFiles", "AssignedValues", "ValueFormats", "Bluetooth", deque,
        ]),
      .executableTarget(
        name: "bled-mqtt",
        dependencies: [
          "MQTTGateway", "BledLoop", "BledConnection", "BledRPC", "BuildIdentity", "JSONFiles", "ValueFormats",
          "Bluetooth", "EventLoop",
          "CMosquitto", "CSystemd", arguments,
        ],
        linkerSettings: [small]),
      // A Bluetooth proxy for Home Assistant by the native API of ESPHome: frames, messages and their translation,
      // without I/O.
      .target(name: "ESPHome", dependencies: ["BledConnection", "BledRPC", "Noise", "Bluetooth"]),
      .executableTarget(
        name: "bled-esphome",
        dependencies: [
          "ESPHome", "BledLoop", "BledConnection", "BledRPC", "BuildIdentity", "JSONFiles", "Bluetooth", "EventLoop",
          "CSystemd", arguments,
        ],
        linkerSettings: [small]),
      // The common parts of the gateways for bonded devices: links and calls without I/O, and the process.
      .target(
        name: "BondedDevices",
        dependencies: ["BledLoop", "BledConnection", "BledRPC", "Bluetooth", "EventLoop", "CSystemd"]),
      // HID over GATT: bonded devices as devices of /dev/uhid, without I/O.
      .target(name: "HIDGateway", dependencies: ["BondedDevices", "BledRPC", "Bluetooth"]),
      .executableTarget(
        name: "bled-hid",
        dependencies: [
          "HIDGateway", "BondedDevices", "BledLoop", "BledConnection", "BledRPC", "BuildIdentity", "EventLoop",
          arguments,
        ],
        linkerSettings: [small]),
      // MIDI over Bluetooth LE: bonded devices as ports of ALSA's sequencer, without I/O.
      .target(name: "MIDIGateway", dependencies: ["BondedDevices", "MIDI", "BledRPC", "Bluetooth"]),
      .executableTarget(
        name: "bled-midi",
        dependencies: [
          "MIDIGateway", "BondedDevices", "BledLoop", "BledConnection", "BledRPC", "BuildIdentity", "EventLoop",
          arguments,
        ],
        linkerSettings: [small]),
    ],
    tests: [
      .testTarget(name: "BondedDevicesTests", dependencies: ["BondedDevices", "Bluetooth"]),
      .testTarget(
        name: "HIDGatewayTests",
        dependencies: [
          "HIDGateway", "BondedDevices", "BledConnection", "BledRPC", "Adapter", "Bluetooth", "SessionTestSupport",
        ]),
      .testTarget(
        name: "MIDIGatewayTests",
        dependencies: [
          "MIDIGateway", "BondedDevices", "MIDI", "BledConnection", "BledRPC", "Adapter", "Bluetooth",
          "SessionTestSupport",
        ]),
      .testTarget(name: "BledMidiTests", dependencies: ["bled-midi", "MIDIGateway", "EventLoop"]),
      .testTarget(name: "BledHidTests", dependencies: ["bled-hid", "HIDGateway", "Bluetooth", "EventLoop"]),
      .testTarget(
        name: "ESPHomeTests",
        dependencies: [
          "ESPHome", "BledConnection", "BledRPC", "Noise", "Adapter", "Bluetooth", "SessionTestSupport",
        ]),
      .testTarget(
        name: "BlueZTests",
        dependencies: [
          "BlueZ", "BledConnection", "BledRPC", "Adapter", "Bluetooth", "SessionTestSupport",
        ]),
      .testTarget(name: "BledMqttTests", dependencies: ["bled-mqtt", "MQTTGateway"]),
      .testTarget(name: "BledBluezTests", dependencies: ["bled-bluez", "BlueZ", "Bluetooth", "EventLoop", "CSystemd"]),
      .testTarget(
        name: "MQTTGatewayTests",
        dependencies: [
          "MQTTGateway", "BledConnection", "BledRPC", "Adapter", "JSONFiles", "ValueFormats", "Bluetooth",
          "SessionTestSupport",
        ]),
    ]),
  // Sessions of nearby programs, and the modules with Apple's APIs.
  storey(
    "Frameworks",
    [
      // Sessions between programs that are near each other: invitations, messages, streams and resources.
      .target(
        name: "NearbySessions", dependencies: ["BledClient", "BledRPC", "Noise", "BluetoothCrypto", "Bluetooth"]),
      // Shared by the modules with Apple's APIs: values behind locks, streams on sockets.
      .target(name: "FrameworkSupport"),
      .target(name: "CoreBluetoothHeaders"),
      // In Swift 5 mode the compiler treats its types as it treats those of Apple's headers, which say nothing about
      // Sendable: `@preconcurrency import CoreBluetooth` silences, and programs in Swift 5 mode have no warnings.
      // `make lint` checks the module itself in Swift 6 mode.
      .target(
        name: "CoreBluetooth",
        dependencies: [
          "BledClient", "BledConnection", "BledRPC", "Beacons", "Bluetooth", "FrameworkSupport", "CoreBluetoothHeaders",
        ],
        swiftSettings: [.swiftLanguageMode(.v5), .enableExperimentalFeature("StrictConcurrency=targeted")]),
      .target(name: "CoreLocationHeaders"),
      // Apple's API for beacons, in the same mode for the same reason.
      .target(
        name: "CoreLocation",
        dependencies: ["CoreBluetooth", "FrameworkSupport", "Beacons", "BledRPC", "Bluetooth", "CoreLocationHeaders"],
        swiftSettings: [.swiftLanguageMode(.v5), .enableExperimentalFeature("StrictConcurrency=targeted")]),
      // Names of Apple's Dispatch, Foundation and Objective-C runtime that Linux lacks.
      .target(name: "AppleNames"),
      .target(name: "MultipeerConnectivityHeaders"),
      // Apple's API for sessions with peers nearby, in the same mode for the same reason.
      .target(
        name: "MultipeerConnectivity",
        dependencies: ["NearbySessions", "FrameworkSupport", "BledClient", "Noise", "MultipeerConnectivityHeaders"],
        swiftSettings: [.swiftLanguageMode(.v5), .enableExperimentalFeature("StrictConcurrency=targeted")]),
    ],
    tests: [
      .testTarget(
        name: "NearbySessionsTests",
        dependencies: [
          "NearbySessions", "BledClient", "BledRPC", "Noise", "BluetoothCrypto", "Bluetooth", "TestSupport",
          "DaemonTestSupport",
        ]),
      .testTarget(
        name: "CoreLocationTests",
        dependencies: [
          "CoreLocation", "CoreBluetooth", "Beacons", "BledClient", "BledRPC", "Bluetooth", "DaemonTestSupport",
        ]),
      .testTarget(
        name: "MultipeerConnectivityTests",
        dependencies: [
          "MultipeerConnectivity", "NearbySessions", "FrameworkSupport", "BledClient", "TestSupport",
          "DaemonTestSupport",
        ]),
      // Runs the daemon that was built beside it.
      .testTarget(
        name: "CoreBluetoothTests",
        dependencies: ["CoreBluetooth", "BledClient", "BledRPC", "Bluetooth", "TestSupport"]),
    ]),
  // The client for people.
  storey(
    "Tools",
    [
      // The page of `bleshell web`: an HTTP server, the page's files as data, and what pages show.
      .target(
        name: "CWebPage",
        exclude: [
          "page.html", "page.css", "page.js", "document.js", "server.js", "devices.js", "sensors.js", "device.js",
          "attributes.js", "plot.js", "pairing.js", "machine.js",
        ],
        cSettings: [.headerSearchPath(".")]),
      .target(
        name: "BledWeb",
        dependencies: [
          "BledClient", "BledConnection", "BledRPC", "Beacons", "AssignedValues", "ValueFormats", "Bluetooth",
          "CWebPage",
        ]),
      // The checks of `bleshell doctor`.
      .target(name: "Diagnosis", dependencies: ["HCI", "CBlueZ"]),
      .executableTarget(
        name: "bleshell",
        dependencies: [
          "BledWeb", "BledClient", "BledConnection", "BledRPC", "BuildIdentity", "NearbySessions", "Capture",
          "Diagnosis", "JSONFiles", "ScenarioRules",
          "Beacons", "AssignedValues", "ValueFormats", "PhoneServices", "MCUmgr", "NordicDFU", "Bluetooth", arguments,
        ],
        linkerSettings: [small]),
    ],
    tests: [
      .testTarget(
        name: "BledWebTests",
        dependencies: [
          "BledWeb", "BledClient", "BledConnection", "BledRPC", "ValueFormats", "Bluetooth", "TestSupport",
        ]),
      .testTarget(name: "DiagnosisTests", dependencies: ["Diagnosis"]),
      .testTarget(
        name: "BleshellTests",
        dependencies: [
          "bleshell", "AssignedValues", "ValueFormats", "BledWeb", "BledClient", "BledConnection", "BledRPC",
          "JSONFiles", "ScenarioRules", "Bluetooth", "TestSupport",
        ]),
    ]),
]

/// The modules and the tests of a storey: each has its folder in `Sources` or `Tests`, in the folder of the storey.
func storey(_ name: String, _ modules: [Target], tests: [Target]) -> [Target] {
  for module in modules { module.path = "Sources/\(name)/\(module.name)" }
  for test in tests { test.path = "Tests/\(name)/\(test.name)" }
  return modules + tests
}

let package = Package(
  name: "bled",
  products: [
    .executable(name: "bled", targets: ["bled"]),
    .executable(name: "bleshell", targets: ["bleshell"]),
    .library(name: "BledClient", targets: ["BledClient"]),
    // Firmware updates, without I/O.
    .library(name: "MCUmgr", targets: ["MCUmgr"]),
    .library(name: "NordicDFU", targets: ["NordicDFU"]),
    .library(name: "NearbySessions", targets: ["NearbySessions"]),
    .library(name: "CoreBluetooth", targets: ["CoreBluetooth"]),
    .library(name: "CoreLocation", targets: ["CoreLocation"]),
    .library(name: "MultipeerConnectivity", targets: ["MultipeerConnectivity"]),
    .library(name: "AppleNames", targets: ["AppleNames"]),
    // For Benchmarks, a package of its own.
    .library(
      name: "BledParts",
      targets: ["ATT", "Adapter", "BledCore", "BledRPC", "Bluetooth", "CBlueZ", "EventLoop", "GATT"]),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
  ],
  targets: storeys.flatMap { $0 } + [
    // Helpers that several kinds of tests share.
    .target(name: "TestSupport", dependencies: ["BluetoothCrypto", "Bluetooth", logging], path: "Tests/Support"),
    // bled itself, on simulated adapters.
    .target(name: "DaemonTestSupport", dependencies: ["BledClient", "TestSupport"], path: "Tests/DaemonSupport"),
    // bled, played by a test, for the programs that are its clients.
    .target(
      name: "SessionTestSupport", dependencies: ["BledConnection", "BledRPC", "Bluetooth"],
      path: "Tests/SessionSupport"),
  ],
  swiftLanguageModes: [.v6]
)
