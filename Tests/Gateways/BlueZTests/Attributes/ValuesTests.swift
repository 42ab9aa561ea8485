import BledRPC
import Bluetooth
import Testing

@testable import BlueZ

/// ReadValue and WriteValue (BlueZ, org.bluez.GattCharacteristic and org.bluez.GattDescriptor).
struct ValuesTests {
  private static let program = ":1.1"
  private static let characteristic = FacadeStage.device + "/service0010/char0011"

  private let world = FacadeStage()
  private let writes = Writes()

  private final class Writes {
    var params: [GATTWrite.Params] = []
  }

  init() throws {
    world.daemon.answer = { [writes] method, message, _ in
      switch method {
      case PeripheralConnect.name: return .success(FacadeStage.linked)
      case GATTDiscover.name: return .success(GATTServices(services: [Self.service]))
      case GATTWrite.name: writes.params += (try? message.params(GATTWrite.Params.self)).map { [$0] } ?? []
      default: break
      }
      return nil
    }
    world.call(Self.program, .adapter, "StartDiscovery", [])
    try world.hear(Self.program, -60)
    world.call(Self.program, .device, "Connect", [], at: FacadeStage.device)
  }

  private static let service = ServiceDescription(
    handle: 0x10, end: 0x20, uuid: 0x180D, primary: true,
    characteristics: [
      CharacteristicDescription(
        handle: 0x12, declaration: 0x11, end: 0x14, uuid: 0x2A37, properties: ["write", "writeWithoutResponse"],
        descriptors: [DescriptorDescription(handle: 0x13, uuid: 0x2901)])
    ])

  private func write(_ interface: Interface, type: String?, at path: String) -> UInt64 {
    let options = type.map { [("type", BusValue.string($0))] } ?? []
    return world.call(Self.program, interface, "WriteValue", [.bytes([1]), .options(options)], at: path)
  }

  @Test(arguments: [(nil, true), ("request", true), ("command", false)] as [(String?, Bool)])
  func aCharacteristic(_ type: String?, _ hasResponse: Bool) {
    #expect(world.succeeded(write(.characteristic, type: type, at: Self.characteristic)))
    #expect(writes.params.map(\.attribute) == [.handle(0x12)])
    #expect(writes.params.map(\.response) == [hasResponse])
  }

  @Test func typesThatAreNotThere() {
    #expect(world.error(write(.characteristic, type: "reliable", at: Self.characteristic)) == .notSupported)
    #expect(world.error(write(.characteristic, type: "other", at: Self.characteristic)) == .invalidArguments)
    #expect(writes.params.isEmpty)
  }

  /// ATT has no command for a descriptor that the device would confirm; bleak requests one all the same.
  @Test(arguments: [nil, "request", "command"])
  func aDescriptor(_ type: String?) {
    #expect(world.succeeded(write(.descriptor, type: type, at: Self.characteristic + "/desc0013")))
    #expect(writes.params.map(\.attribute) == [.handle(0x13)])
    #expect(writes.params.map(\.response) == [true])
  }
}
