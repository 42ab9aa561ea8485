import Bluetooth
import NordicDFU
import TestSupport
import Testing

@testable import Scenarios
@testable import SimulatedAdapter

/// Devices with a boot loader for Secure DFU: their requests and restarts.
@Suite(.onBothAirs) struct BootLoaderDeviceTests {
  private static let firmware = TestPackage.firmware(300)

  private static func description(_ text: String) throws -> BootLoaderDescription {
    let json = #"{ devices: [{ name: "lamp", address: "C0:DE:00:00:00:09", bootLoader: { \#(text) } }] }"#
    return try #require(try Scenario(json: json).devices[0].bootLoader)
  }

  /// The answers to requests and packets.
  private static func answers(_ server: inout BootLoaderServer, _ writes: [(BluetoothUUID, [UInt8])]) -> [String] {
    writes.flatMap { server.received($0.1, on: $0.0) }.map { action in
      switch action {
      case .answer(let octets, _): Hex.encode(octets)
      case .disconnect: "disconnect"
      case .enter(let name): "enter \(name ?? "")"
      case .leave: "leave"
      }
    }
  }

  private static func request(_ request: DFURequest) -> (BluetoothUUID, [UInt8]) {
    (DFUService.controlPoint, request.encoded)
  }

  private static func packetOnly(version: UInt8 = 1) -> [(BluetoothUUID, [UInt8])] {
    let packet = TestPackage.packet(version: version, firmware)
    return [
      request(.create(.command, length: packet.count)), (DFUService.packet, packet), request(.execute),
    ]
  }

  @Test("objects are created, received and executed in order")
  func order() throws {
    var server = BootLoaderServer(try Self.description("objectLength: 256"))
    #expect(Self.answers(&server, [Self.request(.create(.data, length: 256))]) == ["600108"])
    #expect(Self.answers(&server, Self.packetOnly()) == ["600101", "600401"])
    #expect(Self.answers(&server, [Self.request(.create(.data, length: 300))]) == ["600103"], "too long")
    let first = Array(Self.firmware[..<256])
    let object = [Self.request(.create(.data, length: 256)), (DFUService.packet, first)]
    #expect(Self.answers(&server, object + [Self.request(.execute)]) == ["600101", "600401"])
    let rest = Array(Self.firmware[256...])
    let last = [Self.request(.create(.data, length: rest.count)), (DFUService.packet, rest), Self.request(.execute)]
    #expect(Self.answers(&server, last) == ["600101", "600401", "leave"])
    // The boot loader begins again, and has the new version.
    #expect(Self.answers(&server, [Self.request(.select(.data))]) == ["600601" + "00010000" + "0000000000000000"])
    #expect(Self.answers(&server, Self.packetOnly(version: 0)).last == "60040b05")
  }

  @Test("a boot loader takes later versions of itself only, and may restart without an answer")
  func bootLoaderVersion() throws {
    var server = BootLoaderServer(try Self.description("faults: { silence: true }"))
    #expect(Self.answers(&server, [(DFUService.buttonless, [1])]) == ["enter "])
    let packet = TestPackage.packet(version: 2, kind: 3, Self.firmware)
    let command = [
      Self.request(.create(.command, length: packet.count)), (DFUService.packet, packet), Self.request(.execute),
    ]
    let data = [
      Self.request(.create(.data, length: 300)), (DFUService.packet, Self.firmware), Self.request(.execute),
    ]
    #expect(Self.answers(&server, command + data) == ["600101", "600401", "600101", "leave"])
    #expect(Self.answers(&server, command) == ["600101", "60040b05"])
  }

  @Test("requests that it does not know, and values elsewhere")
  func unknown() throws {
    var server = BootLoaderServer(try Self.description(""))
    let others: [(BluetoothUUID, [UInt8])] = [(DFUService.controlPoint, [0x0C]), (DFUService.controlPoint, [])]
    #expect(Self.answers(&server, others) == ["600c02", "600002"])
    #expect(Self.answers(&server, [(DFUService.buttonless, [9]), (0x2A00, [1])]) == ["200902"])
    let entry: [(BluetoothUUID, [UInt8])] = [(DFUService.buttonless, [2, 1, 0x41]), (DFUService.buttonless, [1])]
    #expect(Self.answers(&server, entry) == ["200201", "200101", "enter A"])
    #expect(Self.answers(&server, [(DFUService.buttonlessWithBonds, [2, 1, 0x41])]) == ["200202"])
  }

  @Test("an empty packet is not damaged")
  func emptyPacket() throws {
    var server = BootLoaderServer(try Self.description("faults: { damage: true }"))
    #expect(Self.answers(&server, [Self.request(.select(.data)), (DFUService.packet, [])]).count == 1)
    #expect(Self.answers(&server, Self.packetOnly()) == ["600101", "600401"])
    let begin = Self.request(.create(.data, length: 300))
    #expect(Self.answers(&server, [begin, (DFUService.packet, []), (DFUService.packet, [0])]) == ["600101"])
    var checksum = CRC32()
    checksum.add([1])
    let receipt = DFUResponse(to: 3, receipt: .init(offset: 1, checksum: checksum.value))
    #expect(Self.answers(&server, [Self.request(.checksum)]) == [Hex.encode(receipt.encoded)], "the first octet is")
  }

  @Test("receipts are sent after each so many packets")
  func receipts() throws {
    var server = BootLoaderServer(try Self.description(""))
    _ = Self.answers(&server, Self.packetOnly() + [Self.request(.setReceipts(2))])
    let packets = Self.firmware[..<40].map { (DFUService.packet, [$0]) }
    let begin = Self.request(.create(.data, length: 300))
    #expect(Self.answers(&server, [begin] + packets).count == 21)
    server.linkEnded()
    #expect(Self.answers(&server, packets).isEmpty, "a new link asks for them again")
  }

  @Test("a boot loader of its own address is a device of the scenario, and two cannot have one address")
  func addresses() throws {
    let lamp = #"{ name: "lamp", address: "C0:DE:00:00:00:01", addressType: "random", bootLoader: {} }"#
    let world = try AdapterStage.on("{ devices: [\(lamp)] }")
    #expect(world.air.commandedDevices.map(\.isPresent) == [true, false])
    #expect(world.air.commandedDevices.map(\.name) == ["lamp", "DfuTarg"])
    let next = #"{ name: "other", address: "C0:DE:00:00:00:02", addressType: "random" }"#
    // Another device is not put where the boot loader is, nor its boot loader where a device is.
    try world.air.add(scenario: "{ devices: [\(next)] }")
    let before = #"{ name: "before", address: "C0:DE:00:00:00:00", addressType: "random", bootLoader: {} }"#
    try world.air.add(scenario: "{ devices: [\(before)] }")
    #expect(world.air.commandedDevices.count == 2)
    #expect { try Scenario(json: "{ devices: [\(lamp), \(next)] }") } throws: { "\($0)".contains("give each its own") }
  }
}
