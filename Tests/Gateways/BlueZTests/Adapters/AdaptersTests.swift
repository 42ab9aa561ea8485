import BledRPC
import Bluetooth
import Testing

@testable import BlueZ

/// Adapter1 (BlueZ, org.bluez.Adapter).
struct AdaptersTests {
  private static let program = ":1.42"
  private let world = FacadeStage()

  private func set(_ name: String, _ value: BusValue) -> UInt64 {
    world.call(
      Self.program, .properties, "Set", [.string(Interface.adapter.rawValue), .string(name), .variant(value)])
  }

  private func value(_ name: String) throws -> BusValue {
    let number = world.call(Self.program, .properties, "Get", [.string(Interface.adapter.rawValue), .string(name)])
    return try #require(try world.bus.answers[number]?.get().first).unwrapped
  }

  @Test func theAliasIsTheDeviceName() throws {
    var names: [String?] = []
    world.daemon.answer = { method, message, _ in
      if method == AdapterSetName.name { names.append(try? message.params(AdapterSetName.Params.self).name) }
      return nil
    }
    #expect(try value("Alias") == .string("here"))
    #expect(world.succeeded(set("Alias", .string("Lamp"))))
    #expect(world.succeeded(set("Alias", .string(""))))
    #expect(names == ["Lamp", nil])
    var adapter = FacadeStage.description()
    adapter.deviceName = "Lamp"
    try world.own().notify(AdapterChanged.self, adapter)
    world.settle()
    #expect(try value("Alias") == .string("Lamp"))
    #expect(try value("Name") == .string("here"))
  }

  /// Programs see the abilities of the controller.
  @Test func theAbilitiesOfTheController() throws {
    func advertising(_ name: String) throws -> BusValue? {
      try world.property(.advertisingManager, name, at: FacadeStage.adapter)
    }
    #expect(try advertising("SupportedSecondaryChannels") == nil && advertising("SupportedFeatures") == .strings([]))
    var adapter = FacadeStage.description()
    (adapter.phys, adapter.advertisingSets, adapter.longestAdvertisement) = (["1M", "coded"], 4, 1650)
    try world.own().notify(AdapterChanged.self, adapter)
    world.settle()
    #expect(try advertising("SupportedSecondaryChannels") == .strings(["1M", "Coded"]))
    #expect(try advertising("SupportedFeatures") == .strings(["CanSetTxPower", "HardwareOffload"]))
    let capabilities = try #require(try advertising("SupportedCapabilities"))
    #expect(capabilities == .options([("MaxAdvLen", .byte(245)), ("MaxScnRspLen", .byte(245))]))
    // Meanwhile they stay.
    (adapter.state, adapter.phys, adapter.advertisingSets, adapter.longestAdvertisement) = ("off", nil, nil, nil)
    try world.own().notify(AdapterChanged.self, adapter)
    world.settle()
    #expect(try advertising("SupportedCapabilities") == capabilities)
  }

  @Test func namesOfAdaptersAreThoseOfTheMachine() throws {
    try world.own().notify(AdapterChanged.self, FacadeStage.description("hci1", address: "02:00:00:00:00:02"))
    world.settle()
    #expect(try value("Name") == .string("here"))
    #expect(try world.property(.adapter, "Name", at: "/org/bluez/hci1") == .string("here #2"))
  }

  /// An object is removed with its adapter, and is new when the adapter returns: programs look for it then.
  @Test func anAdapterGoesAndComesBack() throws {
    func told(_ member: String) -> Int { world.bus.signals.count { $0.member == member } }
    let added = told("InterfacesAdded")
    try world.own().notify(AdapterChanged.self, FacadeStage.description(isAbsent: true))
    world.settle()
    #expect(told("InterfacesRemoved") == 1)
    try world.own().notify(AdapterChanged.self, FacadeStage.description())
    world.settle()
    #expect(told("InterfacesAdded") == added + 1)
    #expect(try value("Powered") == .boolean(true))
  }

  /// Programs of ordinary users set it at their start.
  @Test func anAliasThatIsNotPermittedIsIgnored() throws {
    world.daemon.answer = { method, _, _ in
      method == AdapterSetName.name ? .failure(BledError.notPermitted.error("user 1000 lacks adapters")) : nil
    }
    #expect(world.succeeded(set("Alias", .string("Lamp"))))
    #expect(try value("Alias") == .string("here"))
  }

  @Test func anAliasThatIsTooLong() throws {
    world.daemon.answer = { method, _, _ in
      method == AdapterSetName.name ? .failure(BledError.invalidParameter.error("248 octets at most")) : nil
    }
    let number = set("Alias", .string(String(repeating: "a", count: 300)))
    #expect(world.error(number) == .invalid("248 octets at most"))
  }

  @Test func powerNeedsThePermission() throws {
    world.daemon.answer = { method, _, _ in
      method == AdapterPower.name ? .failure(BledError.notPermitted.error("user 1000 lacks adapters")) : nil
    }
    #expect(world.error(set("Powered", .boolean(false))) == .notAuthorized)
    #expect(try value("Powered") == .boolean(true))
  }

  @Test func propertiesThatCannotBeSet() throws {
    #expect(world.error(set("Address", .string("x")))?.name == "org.freedesktop.DBus.Error.PropertyReadOnly")
    #expect(world.error(set("Powered", .string("yes")))?.name == "org.freedesktop.DBus.Error.InvalidArgs")
    #expect(world.error(set("Nothing", .string("x")))?.name == "org.freedesktop.DBus.Error.InvalidArgs")
  }
}
