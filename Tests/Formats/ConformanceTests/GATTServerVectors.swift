import Bluetooth
import BluetoothCrypto
import GATT
import Testing

/// The server cases of the Bluetooth SIG's GATT test suite, packet for packet.
@Suite(.enabled(if: Vectors.has(GATTVectorFile.name), Vectors.missing(GATTVectorFile.name)))
struct GATTServerVectors {
  @Test func everyServerCase() throws {
    let file = try GATTVectorFile.load()
    #expect(file.serverCases.count == 93)
    for skipped in file.skipped { print("conformance: skipped \(skipped.name): \(skipped.why)") }
    Tally.run(.server, "cases", file.serverCases) { vector in
      let database = try #require(file.databases.first { $0.name == vector.database })
      var run = ServerRun(
        vector, try database.build(plainConfigurations: vector.tags.contains("cccd-as-plain-storage")))
      guard try run.matches() else { throw Tally.CaseFailed() }
    }
  }

  @Test func everyDatabaseHash() throws {
    for vector in try GATTVectorFile.load().databases {
      var database = try vector.build()
      #expect(Hex.encode(database.hashMessage) == vector.hash.message, "\(vector.name)")
      // The vectors hold it in the order of AES-CMAC, the attribute in that of the wire.
      #expect(Hex.encode((database.hash() ?? []).reversed()) == vector.hash.code, "\(vector.name)")
    }
  }
}

private struct ServerRun {
  let vector: GATTVectorFile.ServerCase
  var database: AttributeDatabase
  var connection: GATTConnection
  var sent: [String] = []
  var confirmed = 0

  init(_ vector: GATTVectorFile.ServerCase, _ database: AttributeDatabase) {
    self.vector = vector
    self.database = database
    let isEncrypted = vector.security != "none"
    connection = GATTConnection(
      maximumMTU: vector.mtu, security: SecurityState(level: isEncrypted ? 2 : 1, keySize: isEncrypted ? 16 : 0))
  }

  /// Runs the case; differences are recorded.
  mutating func matches() throws -> Bool {
    for (index, step) in vector.exchange.enumerated() {
      if let packet = step.client { try receive(packet) }
      if step.action != nil { try act(step) }
      if let packet = step.server {
        let answer = sent.isEmpty ? "nothing" : sent.removeFirst()
        #expect(answer == packet, "\(vector.name), step \(index)")
        guard answer == packet else { return false }
      }
      switch step.expect {
      case "no-response": guard sent.isEmpty else { return fails("answered \(sent)") }
      case "confirmation-delivered": guard confirmed == 1 else { return fails("not confirmed") }
      case nil: break
      default: return fails("unknown expectation \(step.expect ?? "")")
      }
    }
    return sent.isEmpty ? true : fails("\(sent) was sent too much")
  }

  private func fails(_ reason: String) -> Bool {
    Issue.record("\(vector.name): \(reason)")
    return false
  }

  private mutating func receive(_ packet: String) throws {
    var actions: [GATTAction] = []
    connection.received(try #require(Hex.decode(packet)), now: .zero, database: &database, actions: &actions)
    take(actions)
  }

  private mutating func act(_ step: GATTVectorFile.Step) throws {
    var actions: [GATTAction] = []
    let text = try #require(step.value)
    let value = try #require(Hex.decode(text))
    let handle = try #require(step.handle)
    if step.action == "send-notification" {
      #expect(connection.notify(value, of: handle, actions: &actions) == .sent)
    } else {
      connection.indicate(value, of: handle, id: IndicationID(1), now: .zero, actions: &actions)
    }
    take(actions)
  }

  private mutating func take(_ actions: [GATTAction]) {
    for action in actions {
      switch action {
      case .send(_, let packet): sent.append(Hex.encode(packet))
      case .indicationFinished(_, .success): confirmed += 1
      default: break
      }
    }
  }
}
