// swift-tools-version: 5.9
import PackageDescription

// Modules of a program with the names of modules that CoreBluetooth consists of, in bled's source.

let package = Package(
  name: "Clash",
  platforms: [.macOS(.v13)],
  targets: [
    .target(name: "Bluetooth"),
    .target(name: "Beacons"),
    .target(name: "FrameworkSupport"),
    .target(name: "Noise"),
    .executableTarget(name: "Clash", dependencies: ["Bluetooth", "Beacons", "FrameworkSupport", "Noise"]),
  ]
)
