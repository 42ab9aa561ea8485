import ATT
import Bluetooth
@testable import GATT
import Testing

/// Servers of devices that people own, one line a situation. `>` is a packet that must be sent, `<` a received one.
///
/// A bug report becomes a line: its packets, as btmon or a recording shows them, and the outcome that the person should
/// have had. CONTRIBUTING.md walks through one.
struct ClumsyPeerTests {
  struct Situation: CustomTestStringConvertible {
    let testDescription: String
    let procedure: GATTProcedure
    let packets: String
    let outcome: Result<GATTResult, GATTError>

    init(
      _ name: String, _ procedure: GATTProcedure, _ packets: String, _ outcome: Result<GATTResult, GATTError>
    ) {
      (testDescription, self.procedure, self.packets, self.outcome) = (name, procedure, packets, outcome)
    }
  }

  /// A part that fills a packet of the MTU 23.
  private static let part = [UInt8](repeating: 0xAA, count: 22)
  private static let full = Hex.encode(part)
  private static let heart = DiscoveredService(range: 1...5, uuid: 0x180D)

  static let situations: [Situation] = [
    // Answers that nothing awaits.
    .init("Exchange MTU is answered again", .read(1), "> 0a0100 < 03f700 < 0b07", .success(.value([7]))),
    .init("Another request is refused", .read(1), "> 0a0100 < 010c010001 < 0b07", .success(.value([7]))),
    .init("Another handle is refused", .read(1), "> 0a0100 < 010a020001", .failure(.att(.invalidHandle, handle: 2))),
    .init("A write is answered that was none", .read(1), "> 0a0100 < 13 < 0b07", .success(.value([7]))),
    .init("An indication is confirmed that was none", .read(1), "> 0a0100 < 1e < 0b07", .success(.value([7]))),
    .init("The answer comes twice", .write(1, [1]), "> 12010001 < 13 < 13", .success(.done)),
    .init(
      "The refusal is cut off", .read(1), "> 0a0100 < 010a",
      .failure(.invalidResponse(.errorResponse, .malformed))),
    // The device's own requests and values in between.
    .init("The device asks for the MTU", .read(1), "> 0a0100 < 021700 > 031700 < 0b07", .success(.value([7]))),
    .init("The device asks for nothing known", .read(1), "> 0a0100 < 3f > 013f000006 < 0b07", .success(.value([7]))),
    .init("A value is longer than the MTU", .read(1), "> 0a0100 < 1b0900\(full)ff < 0b07", .success(.value([7]))),
    // Long values.
    .init(
      "Read Blob is refused: no attribute", .readLong(3), "> 0a0300 < 0b\(full) > 0c03001600 < 010c03000a",
      .success(.value(part))),
    .init(
      "Read Blob is refused: not long", .readLong(3), "> 0a0300 < 0b\(full) > 0c03001600 < 010c03000b",
      .success(.value(part))),
    .init(
      "Read Blob is refused: offset", .readLong(3), "> 0a0300 < 0b\(full) > 0c03001600 < 010c030007",
      .success(.value(part))),
    .init(
      "Read Blob is not known", .readLong(3), "> 0a0300 < 0b\(full) > 0c03001600 < 010c030006",
      .success(.cutValue(part))),
    .init(
      "Read Blob fails", .readLong(3), "> 0a0300 < 0b\(full) > 0c03001600 < 010c03000e",
      .failure(.att(.unlikelyError, handle: 3))),
    // Searches.
    .init(
      "A search ends with Invalid Handle", .discoverServices(.primary),
      "> 100100ffff0028 < 1106010005000d18 > 100600ffff0028 < 0110060001",
      .failure(.partlyRefused(.services([heart]), .invalidHandle, handle: 6))),
    .init(
      "A search ends with Unlikely Error", .discoverDescriptors(in: 3...6),
      "> 0403000600 < 0501030002" + "29 > 0404000600 < 010404000e",
      .failure(.partlyRefused(.descriptors([.init(handle: 3, uuid: 0x2902)]), .unlikelyError, handle: 4))),
    .init(
      "A search asks for security", .discoverServices(.primary),
      "> 100100ffff0028 < 1106010005000d18 > 100600ffff0028 < 0110060005",
      .failure(.att(.insufficientAuthentication, handle: 6))),
    .init(
      "Descriptors are refused", .discoverDescriptors(in: 3...6), "> 0403000600 < 0104030001",
      .failure(.att(.invalidHandle, handle: 3))),
    .init(
      "An included service is not there", .findIncludedServices(in: 1...9),
      "> 0801000900022" + "8 < 0906030020002f00 > 0a2000 < 010a20000a",
      .failure(.att(.attributeNotFound, handle: 32))),
  ]

  @Test("A clumsy server", arguments: situations)
  func situation(_ situation: Situation) throws {
    var client = LinkScript()
    client.perform { connection, _, actions, now in
      connection.start(situation.procedure, id: ProcedureID(1), now: now, actions: &actions)
    }
    var isSent = true
    var expected: [String] = []
    for word in situation.packets.split(separator: " ") {
      switch word {
      case ">": isSent = true
      case "<": isSent = false
      case let hex where isSent: expected.append(String(hex))
      case let hex:
        #expect(client.takeSent() == expected)
        expected = []
        let packet = try #require(Hex.decode(String(hex)))
        client.perform { connection, database, actions, now in
          connection.received(packet, now: now, database: &database, actions: &actions)
        }
      }
    }
    #expect(client.takeSent() == expected)
    let outcomes = client.takeEvents().filter { $0.hasPrefix("finished") }
    let outcome: Any =
      switch situation.outcome {
      case .success(let result): result
      case .failure(let error): error
      }
    print("\(situation.testDescription): \(outcome)")
    #expect(outcomes == ["finished 1 \(outcome)"])
    #expect(client.connection.isOpen, "a link that works never ends for it")
  }
}
