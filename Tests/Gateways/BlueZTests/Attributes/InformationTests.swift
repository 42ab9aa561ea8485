import BledRPC
import Bluetooth
import Testing

@testable import BlueZ

/// The properties of a device that are read from it.
struct InformationTests {
  private static let program = ":1.1"

  private let world = FacadeStage()
  private let device = Behaviour()

  private final class Behaviour {
    var reads: [UInt16] = []
  }

  private static func characteristic(_ handle: UInt16, _ uuid: BluetoothUUID) -> CharacteristicDescription {
    CharacteristicDescription(handle: handle, declaration: handle - 1, end: handle, uuid: uuid, properties: ["read"])
  }

  private static let values: [UInt16: [UInt8]] = [
    3: Array("Secret Name".utf8), 5: [0xC1, 0x03], 8: [2, 0x6B, 0x1D, 0x46, 2, 0x52, 5], 11: [1],
  ]

  private static let services = [
    ServiceDescription(
      handle: 1, end: 5, uuid: 0x1800, primary: true,
      characteristics: [characteristic(3, 0x2A00), characteristic(5, 0x2A01)]),
    ServiceDescription(
      handle: 6, end: 11, uuid: 0x180A, primary: true,
      characteristics: [characteristic(8, 0x2A50), characteristic(11, 0x2A38)]),
  ]

  init() throws {
    world.daemon.answer = { [device] method, message, _ in
      switch method {
      case PeripheralConnect.name: return .success(FacadeStage.linked)
      case GATTDiscover.name: return .success(GATTServices(services: Self.services))
      case GATTRead.name:
        guard let handle = (try? message.params(AttributeReference.self))?.attribute.handle else { return nil }
        device.reads.append(handle)
        return .success(GATTRead.Result(value: HexBytes(Self.values[handle] ?? [])))
      default: return nil
      }
    }
    world.call(Self.program, .adapter, "StartDiscovery", [])
    try world.hear(Self.program, -60)
  }

  @Test func theyAreReadInTheFirstConnection() throws {
    for _ in 0..<2 {
      world.call(Self.program, .device, "Connect", [], at: FacadeStage.device)
      #expect(device.reads == [3, 5, 8])
      world.call(Self.program, .device, "Disconnect", [], at: FacadeStage.device)
    }
    for (name, value) in [
      ("Name", BusValue.string("Secret Name")), ("Alias", .string("Secret Name")), ("Appearance", .uint16(0x3C1)),
      ("Icon", .string("input-keyboard")), ("Modalias", .string("usb:v1D6Bp0246d0552")),
    ] { #expect(try world.property(.device, name, at: FacadeStage.device) == value) }
  }

  @Test func productsThatAreNotValid() {
    #expect(Information.modalias([1, 0x0F, 0, 1, 0, 2, 0]) == "bluetooth:v000Fp0001d0002")
    #expect(Information.modalias([3, 0x0F, 0, 1, 0, 2, 0]) == nil)
    #expect(Information.modalias([1, 0x0F]) == nil && Information.modalias([]) == nil)
  }
}
