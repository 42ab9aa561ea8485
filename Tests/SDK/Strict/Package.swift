// swift-tools-version: 6.0
import PackageDescription

// The same code in both language modes. It must compile without a warning: scripts/test-sdk treats them as errors.

let package = Package(
  name: "Strict",
  platforms: [.macOS(.v15)],
  targets: [
    .target(name: "Strict"),
    .target(name: "Plain", swiftSettings: [.swiftLanguageMode(.v5)]),
  ]
)
