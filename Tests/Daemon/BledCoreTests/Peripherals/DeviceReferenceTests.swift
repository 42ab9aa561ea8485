import Adapter
import BledRPC
import Bluetooth
import Testing

@testable import BledCore

/// Devices as calls name them, and the errors for unknown names.
@Suite struct DeviceReferenceTests: OneClientSuite {
  let world = World()
  let client: TestClient
  private let text = "C0:00:00:00:00:01"

  init() { client = world.client() }

  private var directory: PeripheralDirectory { world.daemon.directory }

  private func address(_ kind: DeviceAddress.Kind) throws -> DeviceAddress {
    try #require(DeviceAddress(text, kind: kind))
  }

  /// The device of a reference, and its adapter.
  private func find(_ reference: DeviceReference?, on adapter: String? = nil) throws -> (Peripheral, AdapterSlot) {
    try directory.find(try #require(reference), on: adapter, of: world.daemon.adapters)
  }

  @Test("An identifier is found, and applies if an address is given, too")
  func identifier() throws {
    world.adapter.hear(try address(.random), [])
    let known = try #require(directory.all.first)
    let reference = try DeviceReference(peripheral: known.id, address: "00:00:00:00:00:07")
    #expect(try find(reference).0 === known)
    #expect(try find(DeviceReference(known.id, kind: .public)).0 === known)
    #expect(try directory.known(.identifier(known.id)) == [known])
    #expect(try directory.address(of: .identifier(known.id)) == known.address)
  }

  @Test("An unknown identifier is unknownDevice, also where an address could stand")
  func unknownIdentifier() throws {
    for reference in [DeviceReference.identifier("x"), DeviceReference("C0:00:00:00:00", kind: .random)] {
      #expect { try self.find(reference) } throws: { ($0 as? BluetoothError)?.code == GAPError.unknownDevice.rawValue }
      #expect(throws: BluetoothError.self) { try directory.known(reference) }
      #expect(throws: BluetoothError.self) { try directory.address(of: reference) }
    }
  }

  @Test("An address without a type means the device that was used last, else the type that its top bits tell")
  func addressWithoutType() throws {
    let reference = try DeviceReference(address: text, kind: nil)
    #expect(try directory.known(reference).isEmpty)
    #expect(try directory.address(of: reference) == address(.random))
    for kind in [DeviceAddress.Kind.random, .public] {
      world.adapter.hear(try address(kind), [])
      world.settle()
      #expect(try directory.address(of: reference) == address(kind))
      #expect(try find(reference).0.address == address(kind))
    }
    #expect(try directory.known(reference).count == 2)
    #expect(try find(DeviceReference(address: text, kind: .random)).0.address == address(.random))
  }

  @Test("The adapter is the one of the call, else the one that heard the device last, else the first")
  func adapter() throws {
    let other = ScriptedAdapter(id: "hci1", scheduler: world.scheduler)
    world.daemon.add(other)
    let reference = try DeviceReference(address: text, kind: .random)
    #expect(try find(DeviceReference(address: "00:00:00:00:00:07", kind: nil)).1.id == "hci0")
    other.hear(try address(.random), [])
    #expect(try find(reference).1.id == "hci1")
    #expect(try find(reference, on: "hci0").1.id == "hci0")
    #expect(throws: BluetoothError.self) { try find(reference, on: "hci9") }
  }

  @Test("Every call refuses a text that is no address in the same way")
  func noAddress() throws {
    let refusals = [
      try refusal(PeripheralConnect.self, .init(address: "nonsense")),
      try refusal(PeripheralDisconnect.self, .init(address: "nonsense")),
      try refusal(PairingForget.self, .init(address: "nonsense")),
    ]
    for refusal in refusals {
      #expect(refusal.data?.name == "invalidParameter" && refusal.message.contains("six pairs"), "\(refusal)")
    }
    #expect(try refusal(PeriodicSync.self, .init(peripheral: "nonsense", sid: 1)).data?.name == "unknownDevice")
  }

  @Test("A call names a device or describes it, not both, and not neither")
  func namedOrDescribed() throws {
    for params in [
      PeripheralDisconnect.Params(), .init(address: text, name: "Lamp"), .init(peripheral: "x", service: 0x180D),
    ] {
      #expect(try refusal(PeripheralDisconnect.self, params).data?.name == "invalidParameter", "\(params)")
    }
    let both = PeripheralConnect.Params(address: text, namePrefix: "L")
    #expect(try refusal(PeripheralConnect.self, both).data?.name == "invalidParameter")
  }

  @Test("A train of a device that another adapter heard is followed there, with the type of the address, too")
  func trainOnAnotherAdapter() throws {
    let other = ScriptedAdapter(id: "hci1", scheduler: world.scheduler)
    other.information.canSynchronise = true
    world.daemon.add(other)
    let sender = try address(.random)
    other.hear(sender, [])
    try client.call(PeriodicSync.self, .init(peripheral: text, addressType: .random, sid: 1))
    world.settle()
    #expect(other.syncs.keys.map(\.address) == [sender] && world.adapter.syncs.isEmpty)
  }
}
