// swift-tools-version: 6.2
import Foundation
import PackageDescription

// Programs written for Apple's CoreBluetooth, CoreLocation and MultipeerConnectivity. On Apple's systems an import
// finds Apple's framework; on Linux it finds bled's module of that name. docs/examples.md walks through them.

let bluetooth: Target.Dependency = .product(
  name: "CoreBluetooth", package: "bled", condition: .when(platforms: [.linux]))

// The module comes from the source around this folder. A copy of this folder elsewhere is built as any other package,
// with the toolset of an installed SDK (docs/porting.md).
let isInSource = FileManager.default.fileExists(
  atPath: "\(Context.packageDirectory)/../Sources/Frameworks/CoreBluetooth")
let modules: [Target.Dependency] = isInSource ? [bluetooth] : []
let location: Target.Dependency = .product(
  name: "CoreLocation", package: "bled", condition: .when(platforms: [.linux]))
let sessions: Target.Dependency = .product(
  name: "MultipeerConnectivity", package: "bled", condition: .when(platforms: [.linux]))
let client: [Target.Dependency] = isInSource ? [.product(name: "BledClient", package: "bled")] : []
// They start bled.
#if os(Linux)
  let tests: [Target] = [.testTarget(name: "SimulatedDeviceTests", dependencies: client)]
#else
  let tests: [Target] = []
#endif

let package = Package(
  name: "Examples",
  platforms: [.macOS(.v13)],
  dependencies: isInSource ? [.package(name: "bled", path: "..")] : [],
  targets: [
    .executableTarget(name: "HeartRateMonitor", dependencies: modules),
    .executableTarget(name: "HeartRateBelt", dependencies: modules),
    .executableTarget(name: "ThermometerLogger", dependencies: modules),
    .executableTarget(name: "ProtectedEmail", dependencies: modules),
    .executableTarget(name: "Chat", dependencies: modules),
    .executableTarget(name: "ChannelEcho", dependencies: modules),
    .executableTarget(name: "Beacon", dependencies: isInSource ? [bluetooth, location] : []),
    .executableTarget(name: "Talk", dependencies: isInSource ? [sessions] : []),
  ] + tests,
  swiftLanguageModes: [.v6]
)
