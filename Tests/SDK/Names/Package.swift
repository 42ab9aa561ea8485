// swift-tools-version: 6.0
import PackageDescription

// A program with names that Apple's Dispatch, Foundation and Objective-C have beside CoreBluetooth: it is built with
// the toolset apple.json, too.

let package = Package(
  name: "Names",
  platforms: [.macOS(.v15)],
  targets: [.executableTarget(name: "Names")]
)
