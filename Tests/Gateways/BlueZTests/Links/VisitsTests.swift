import BledRPC
import Bluetooth
import Testing

@testable import BlueZ

/// Devices that have connected to this machine: programs find their services.
struct VisitsTests {
  private static let program = ":1.1"

  private let world = FacadeStage()

  init() {
    world.daemon.answer = { method, _, _ in
      switch method {
      case PeripheralConnect.name: .success(FacadeStage.linked)
      case GATTDiscover.name:
        .success(
          GATTServices(services: [
            ServiceDescription(
              handle: 0x10, end: 0x20, uuid: 0x1800, primary: true,
              characteristics: [0x2A00, 0x2A19, 0x2A50].enumerated().map { place, uuid in
                let handle = 0x12 + 2 * UInt16(place)
                return CharacteristicDescription(
                  handle: handle, end: handle, uuid: BluetoothUUID(UInt16(uuid)), properties: ["read"])
              })
          ]))
      case GATTRead.name: .success(GATTRead.Result(value: HexBytes(Array("Phone".utf8))))
      default: nil
      }
    }
  }

  private func visit(isIncoming: Bool = true) throws {
    world.daemon.devices = [
      PeripheralList.Entry(
        peripheral: "D1", address: "C0:DE:00:00:00:01", addressType: "random", adapter: "hci0", name: nil, rssi: nil,
        state: "connected", mine: false, mtu: 65, incoming: isIncoming ? true : nil)
    ]
    try world.own().notify(
      PeripheralLinkChanged.self,
      PeripheralLinkChanged.Params(peripheral: "D1", linked: true, name: nil, incoming: isIncoming ? true : nil))
    world.settle()
    world.advance(by: .milliseconds(250))
  }

  private func device(_ name: String) throws -> BusValue? {
    try world.property(.device, name, at: FacadeStage.device)
  }

  @Test func theirServicesAreRead() throws {
    try visit()
    #expect(try device("Connected") == .boolean(true) && device("ServicesResolved") == .boolean(true))
    #expect(try device("UUIDs") == .strings(["00001800-0000-1000-8000-00805f9b34fb"]))
    #expect(try device("Name") == .string("Phone"))
    #expect(try world.own().methods.count { $0 == GATTRead.name } == 1, "the others may need pairing")
    let characteristic = FacadeStage.device + "/service0010/char0011"
    #expect(try world.property(.characteristic, "MTU", at: characteristic) == .uint16(65))
    try world.own().notify(
      PeripheralLinkChanged.self, PeripheralLinkChanged.Params(peripheral: "D1", linked: false, name: nil))
    world.settle()
    #expect(try device("Connected") == .boolean(false) && device("ServicesResolved") == .boolean(false))
    #expect(try !world.own().methods.contains(PeripheralDisconnect.name), "nothing is to be let go")
  }

  /// Links of other programs are theirs.
  @Test func linksOfOthersAreLeftAlone() throws {
    try visit(isIncoming: false)
    #expect(try device("Connected") == .boolean(true) && device("ServicesResolved") == .boolean(false))
    #expect(try !world.own().methods.contains(PeripheralConnect.name))
  }

  @Test func withoutThePermission() throws {
    world.daemon.answer = { method, _, _ in
      method == PeripheralConnect.name ? .failure(BledError.notPermitted.error("lacks connect")) : nil
    }
    try visit()
    #expect(try device("Connected") == .boolean(true) && device("ServicesResolved") == .boolean(false))
  }

  /// A program connects while the facade reads the services: it reads the others.
  @Test func aProgramConnectsMeanwhile() throws {
    world.daemon.held = [GATTDiscover.name]
    try visit()
    world.call(Self.program, .device, "Connect", [], at: FacadeStage.device)
    world.daemon.release()
    world.settle()
    #expect(try device("ServicesResolved") == .boolean(true))
    #expect(try world.property(.battery, "Percentage", at: FacadeStage.device) == .byte(0x50))
  }

  @Test func theServicesChange() throws {
    try visit()
    let before = try world.own().methods.count { $0 == GATTDiscover.name }
    try world.own().notify(
      GATTServicesChanged.self, GATTServicesChanged.Params(peripheral: "D1", start: 0x10, end: 0x20))
    world.settle()
    #expect(try world.own().methods.count { $0 == GATTDiscover.name } == before + 1)
    #expect(try device("ServicesResolved") == .boolean(true))
  }
}
