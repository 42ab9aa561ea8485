// swift-tools-version: 5.9
import PackageDescription

// A program that needs the Objective-C runtime, until bled-port has changed it: scripts/test-sdk does that with a copy.

let package = Package(
  name: "Port",
  platforms: [.macOS(.v13)],
  targets: [.executableTarget(name: "Port")]
)
