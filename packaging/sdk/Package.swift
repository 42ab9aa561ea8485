// swift-tools-version: 6.2
import PackageDescription

// The modules of the SDK. The inner ones have other names here than in the source, so that a program may have a module
// named Bluetooth.

let inner = ["Beacons", "Bluetooth", "BluetoothCrypto", "FrameworkSupport", "Noise"]
let aliases = Dictionary(uniqueKeysWithValues: inner.map { ($0, "Bled\($0)") })
let products = ["AppleNames", "BledClient", "CoreLocation", "MultipeerConnectivity"]
// The name of the package as a dependency: that of its folder.
let bled = Context.packageDirectory.split(separator: "/").dropLast(2).last.map(String.init) ?? "bled"

let package = Package(
  name: "SDK",
  // Aliases are looked for from the products on.
  products: [.library(name: "SDK", targets: ["SDK"])],
  dependencies: [.package(path: "../..")],
  targets: [
    .target(
      name: "SDK", dependencies: products.map { .product(name: $0, package: bled, moduleAliases: aliases) })
  ]
)
