// swift-tools-version: 5.9
import PackageDescription

// A program that does not name CoreBluetooth anywhere: a dependency of its uses it.

let package = Package(
  name: "Nearby",
  platforms: [.macOS(.v13)],
  dependencies: [.package(path: "../NearbyKit")],
  targets: [.executableTarget(name: "Nearby", dependencies: ["NearbyKit"])]
)
