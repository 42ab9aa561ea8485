import BledRPC
import Bluetooth
import Testing

@testable import BlueZ

/// The objects beside BlueZ's documentation, member by member and property by property.
struct DocumentationTests {
  private let documentation: Documentation

  init() throws { documentation = try Documentation.read() }

  @Test func eachMemberIsServedOrMissingOnPurpose() {
    let (served, documented) = (Documentation.served, documentation.members)
    let missing = Set(documentation.missing.flatMap(\.names))
    for (name, types) in documented.sorted(by: { $0.key < $1.key }) {
      #expect(served[name] == (missing.contains(name) ? nil : types), "\(name)")
    }
    for name in served.keys.sorted() { #expect(documented[name] != nil, "\(name) is not documented") }
    for name in missing where !name.contains(".") || documented[name] == nil {
      #expect(Interface(rawValue: "org.bluez." + name) == nil, "\(name) is served")
    }
  }

  @Test func eachMethodHasAHandler() {
    for interface in Interface.allCases where interface.rawValue.hasPrefix("org.bluez.") {
      for method in interface.description.methods { #expect(method.handler != nil, "\(interface) \(method.name)") }
    }
  }

  /// docs/bluez.md lists the missing members, and the reasons.
  @Test func whatIsMissingIsDocumented() throws {
    let page = try Documentation.page()
    let heading = try #require(page.firstIndex(of: "## Not served"))
    let rows = page[(heading + 1)...].prefix { !$0.hasPrefix("## ") }.filter { $0.hasPrefix("| `") }
    #expect(rows == (documentation.missing + documentation.valueless).map(\.row))
    #expect(page.contains { $0.contains("BlueZ \(documentation.release)") })
  }

  // MARK: The tree

  private static let program = ":1.1"

  private static let services = [
    ServiceDescription(
      handle: 0x10, end: 0x20, uuid: 0x180D, primary: true,
      characteristics: [
        CharacteristicDescription(
          handle: 0x12, declaration: 0x11, end: 0x14, uuid: 0x2A37,
          properties: ["read", "notify", "writeWithoutResponse"],
          descriptors: [.init(handle: 0x13, uuid: 0x2902)]),
        CharacteristicDescription(handle: 0x16, declaration: 0x15, end: 0x16, uuid: 0x2A19, properties: ["read"]),
      ])
  ]

  /// An adapter with all data that a controller reports, and a device that is received, connected and read.
  private func populated() throws -> FacadeStage {
    let world = FacadeStage()
    world.daemon.answer = { method, message, _ in
      switch method {
      case PeripheralConnect.name: .success(FacadeStage.linked)
      case GATTDiscover.name: .success(GATTServices(services: Self.services))
      case GATTRead.name: .success(GATTRead.Result(value: HexBytes([50])))
      default: nil
      }
    }
    var adapter = FacadeStage.description()
    (adapter.company, adapter.version, adapter.deviceName) = (1521, 13, "here")
    (adapter.phys, adapter.advertisingSets, adapter.longestAdvertisement) = (["1M", "2M", "coded"], 4, 1650)
    try world.own().notify(AdapterChanged.self, adapter)
    world.call(Self.program, .adapter, "StartDiscovery", [])
    let data: [UInt8] = [2, 1, 6, 2, 0x0A, 4, 4, 0xFF, 0xF1, 5, 7, 3, 0x3D, 1, 2]
    try world.hear(Self.program, -60, data: data, services: [0x180D])
    world.call(Self.program, .device, "Connect", [], at: FacadeStage.device)
    let characteristic = FacadeStage.device + "/service0010/char0011"
    world.call(Self.program, .characteristic, "ReadValue", [.options([])], at: characteristic)
    return world
  }

  @Test func thePropertiesOfTheTree() throws {
    let world = try populated()
    let tree = world.facade.context.tree
    let valueless = Set(documentation.valueless.flatMap(\.names))
    let missing = Set(documentation.missing.flatMap(\.names))
    var seen: Set<Interface> = []
    for path in tree.paths {
      for interface in tree.interfaces(of: path) ?? [] {
        seen.insert(interface)
        let short = interface.rawValue.dropFirst("org.bluez.".count)
        let properties = documentation.interfaces[interface.rawValue]?.properties ?? [:]
        for (name, facts) in properties {
          let value = tree.value(path, interface, name)
          if let value { #expect(value.type == facts[0], "\(path) \(name)") }
          let isAbsent = ["\(short).\(name)"].contains { valueless.contains($0) || missing.contains($0) }
          if isAbsent { #expect(value == nil, "\(path) \(name)") }
          if facts.count == 2, !isAbsent { #expect(value != nil, "\(path) has no \(name)") }
        }
        for entry in tree.properties(of: path, interface)?.entries ?? [] {
          let name = entry.key.string ?? ""
          #expect(properties[name] != nil, "\(path): \(name) is not documented")
        }
      }
    }
    #expect(seen == Set(Interface.allCases.filter { $0.rawValue.hasPrefix("org.bluez.") }))
  }
}
