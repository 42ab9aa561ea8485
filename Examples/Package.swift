// swift-tools-version: 6.1
import PackageDescription

// Programs written for Apple's CoreBluetooth. On Apple's systems `import CoreBluetooth` finds Apple's framework; on
// Linux it finds bled's module of that name. docs/examples.md walks through them.

let bluetooth: Target.Dependency = .product(
  name: "CoreBluetooth", package: "bled", condition: .when(platforms: [.linux]))

let package = Package(
  name: "Examples",
  platforms: [.macOS(.v13)],
  dependencies: [.package(name: "bled", path: "..")],
  targets: [
    .executableTarget(name: "HeartRateMonitor", dependencies: [bluetooth]),
    .executableTarget(name: "HeartRateBelt", dependencies: [bluetooth]),
    .executableTarget(name: "ThermometerLogger", dependencies: [bluetooth]),
    .executableTarget(name: "ProtectedEmail", dependencies: [bluetooth]),
    .executableTarget(name: "Chat", dependencies: [bluetooth]),
  ],
  swiftLanguageModes: [.v6]
)
