// swift-tools-version: 5.9
import PackageDescription

// A library as others publish them: it imports CoreBluetooth and does not know bled.

let package = Package(
  name: "NearbyKit",
  platforms: [.macOS(.v13)],
  products: [.library(name: "NearbyKit", targets: ["NearbyKit"])],
  targets: [.target(name: "NearbyKit")]
)
