import Bluetooth
import BluetoothCrypto
import GATT
import Testing

/// The client cases of the Bluetooth SIG's GATT test suite, packet for packet.
@Suite(.enabled(if: Vectors.has(GATTVectorFile.name), Vectors.missing(GATTVectorFile.name)))
struct GATTClientVectors {
  @Test func everyClientCase() throws {
    let file = try GATTVectorFile.load()
    #expect(file.clientCases.count == 99)
    Tally.run(.client, "cases", file.clientCases) { vector in
      var run = ClientRun(vector)
      guard try run.matches() else { throw Tally.CaseFailed() }
    }
  }
}

private struct ClientRun {
  let vector: GATTVectorFile.ClientCase
  var connection: GATTConnection
  var database = AttributeDatabase()
  var sent: [String] = []
  var results: [Result<GATTResult, GATTError>] = []
  var delivered: [(handle: UInt16, value: [UInt8])] = []
  var lastID: UInt64 = 0

  init(_ vector: GATTVectorFile.ClientCase) {
    self.vector = vector
    let isEncrypted = vector.operation["link_encrypted"]?.bool == true
    connection = GATTConnection(
      maximumMTU: vector.mtu, security: SecurityState(level: isEncrypted ? 2 : 1, keySize: isEncrypted ? 16 : 0))
    connection.asksForSecurity = vector.security == "auto-elevate"
  }

  mutating func matches() throws -> Bool {
    if let procedures = vector.setupProcedures {
      for setup in procedures {
        guard try run(procedure(setup), setup.exchange, setup.procedure) else { return false }
        guard try check(setup) else { return fails("\(setup.procedure) gave \(String(describing: results.last))") }
      }
    } else if !vector.setup.isEmpty {
      guard try run(.exchangeMTU, vector.setup, "setup") else { return false }
    }
    if vector.operation["op"]?.string == "connect-and-discover-all" { return true }
    delivered = []
    guard try run(try operation(), vector.exchange, "operation") else { return false }
    return try checkExpectations()
  }

  private func fails(_ reason: String) -> Bool {
    Issue.record("\(vector.name): \(reason)")
    return false
  }

  // MARK: - Running

  private mutating func run(
    _ procedure: GATTProcedure, _ exchange: [GATTVectorFile.Step], _ what: String
  ) throws -> Bool {
    results = []
    lastID += 1
    let id = ProcedureID(lastID)
    perform { connection, actions, _ in connection.start(procedure, id: id, now: .zero, actions: &actions) }
    for (index, step) in exchange.enumerated() {
      if let packet = step.client {
        let request = sent.isEmpty ? "nothing" : sent.removeFirst()
        #expect(request == packet, "\(vector.name), \(what), step \(index)")
        guard request == packet else { return false }
      }
      if let packet = step.server {
        let octets = try #require(Hex.decode(packet))
        perform { connection, actions, database in
          connection.received(octets, now: .zero, database: &database, actions: &actions)
        }
      }
    }
    guard sent.isEmpty else { return fails("\(sent) was sent too much in \(what)") }
    return true
  }

  private mutating func perform(
    _ call: (inout GATTConnection, inout [GATTAction], inout AttributeDatabase) -> Void
  ) {
    var actions: [GATTAction] = []
    call(&connection, &actions, &database)
    for action in actions {
      switch action {
      case .send(_, let packet): sent.append(Hex.encode(packet))
      case .finished(_, let result): results.append(result)
      case .value(let handle, let value, _): delivered.append((handle, value))
      case .securityNeeded(let id, _, _):
        perform { connection, actions, _ in
          connection.resume(id, isSecured: true, now: .zero, actions: &actions)
        }
      default: break
      }
    }
  }

  // MARK: - Actions

  private func procedure(_ setup: GATTVectorFile.Procedure) throws -> GATTProcedure {
    let bounds = setup.range ?? [1, 0xFFFF]
    let range = bounds[0]...bounds[1]
    switch setup.procedure {
    case "exchange-mtu": return .exchangeMTU
    case "read-server-supported-features": return .readByUUID(0x2B3A, in: range)
    case "discover-primary-services": return .discoverServices(.primary, in: range)
    case "discover-secondary-services": return .discoverServices(.secondary, in: range)
    case "find-included-services": return .findIncludedServices(in: range)
    case "discover-characteristics": return .discoverCharacteristics(in: range)
    case "discover-descriptors": return .discoverDescriptors(in: range)
    case "read-extended-properties": return .read(try #require(setup.handle))
    default: throw UnknownOperation(name: setup.procedure)
    }
  }

  private func operation() throws -> GATTProcedure {
    let operation = vector.operation
    let handle = UInt16(operation["handle"]?.int ?? 0)
    let offset = UInt16(operation["offset"]?.int ?? 0)
    let value = Hex.decode(operation["value"]?.string ?? "") ?? []
    let uuid = operation["uuid"]?.string ?? ""
    let range = UInt16(operation["start"]?.int ?? 1)...UInt16(operation["end"]?.int ?? 0xFFFF)
    switch operation["op"]?.string ?? "" {
    case "exchange-mtu": return .exchangeMTU
    case "discover-primary-services": return .discoverServices(.primary)
    case "discover-primary-services-by-uuid":
      let known = try #require(BluetoothUUID(uuid))
      return .discoverPrimaryServices(value: uuid.utf8.count == 4 ? known.attOctets : known.littleEndian128)
    case "find-included-services": return .findIncludedServices(in: range)
    case "discover-characteristics": return .discoverCharacteristics(in: range)
    case "discover-descriptors": return .discoverDescriptors(in: range)
    case "read-value": return .read(handle)
    case "read-by-uuid": return .readByUUID(try #require(BluetoothUUID(uuid)), in: range)
    case "read-long-value": return .readLong(handle, offset: offset)
    case "read-multiple": return .readMultiple(operation["handles"]?.array?.compactMap(\.int).map { UInt16($0) } ?? [])
    case "subscribe-notify": return .subscribe(descriptor: try configuration(of: handle), .notification)
    case "subscribe-indicate": return .subscribe(descriptor: try configuration(of: handle), .indication)
    case "write-without-response": return .writeWithoutResponse(handle, value)
    case "signed-write-without-response":
      let counter = UInt32(operation["sign_counter"]?.int ?? 0)
      let csrk = Hex.decode(operation["csrk_le"]?.string ?? "") ?? []
      let key = try #require(Key128(littleEndian: csrk))
      return .signedWrite(handle, value) { ATTSignature.sign($0, counter: counter, key: key) }
    case "write-value": return .write(handle, value)
    case "write-long-value": return .writeLong(handle, value, offset: offset)
    case "reliable-write": return .reliableWrite([AttributeWrite(handle: handle, offset: offset, value: value)])
    default: throw UnknownOperation(name: operation["op"]?.string ?? "")
    }
  }

  private struct UnknownOperation: Error { let name: String }

  /// The Client Characteristic Configuration behind a value, in what was discovered.
  private func configuration(of handle: UInt16) throws -> UInt16 {
    let attributes = vector.discovered?["attributes"]?.array ?? []
    let found = attributes.first { ($0["handle"]?.int ?? 0) > Int(handle) && $0["type"]?.string == "2902" }
    let handle = try #require(found?["handle"]?.int)
    return UInt16(handle)
  }

  // MARK: - Expected results

  /// Every field that the vector gives of a result must be as ours has it.
  private func check(_ setup: GATTVectorFile.Procedure) throws -> Bool {
    switch results.last {
    case .success(.mtu(let mtu)): return setup.results.first?["server_mtu"]?.int.map { $0 == mtu } ?? false
    case .success(let result): return agree(try fields(result), setup.results)
    case .failure(.att(.attributeNotFound, _)): return setup.results.isEmpty
    default: return false
    }
  }

  private func checkExpectations() throws -> Bool {
    let expect = vector.expect
    if expect["sent"]?.bool == true { return true }
    guard let last = results.last else { return fails("did not end") }
    switch last {
    case .failure(.att(let code, _)):
      guard expect["success"]?.bool == false, expect["att_error"]?.int == Int(code.rawValue) else {
        return fails("\(code)")
      }
    case .failure(let error): return fails("\(error)")
    case .success(let result):
      guard expect["success"]?.bool == true else { return fails("succeeded with \(result)") }
      if let value = expect["value"]?.string, try fields(result).first?["value"]?.string != value {
        return fails("gave \(result)")
      }
      if let wanted = expect["results"]?.array, !agree(try fields(result), wanted) { return fails("gave \(result)") }
    }
    if let wanted = expect["values_delivered"]?.array {
      let handle = vector.operation["handle"]?.int
      let routed = delivered.filter { Int($0.handle) == handle }.map { Hex.encode($0.value) }
      guard routed == wanted.compactMap({ $0["value"]?.string }) else { return fails("delivered \(routed)") }
    }
    return true
  }

  private func agree(_ ours: [JSONValue], _ wanted: [JSONValue]) -> Bool {
    ours.count == wanted.count
      && zip(ours, wanted).allSatisfy { ours, wanted in
        (wanted.object ?? [:]).allSatisfy { name, value in ours[name] == value }
      }
  }

  /// A result in the words of the vectors.
  private func fields(_ result: GATTResult) throws -> [JSONValue] {
    func number(_ value: UInt16) -> JSONValue { .number(Double(value)) }
    func text(_ uuid: BluetoothUUID) -> JSONValue { .string(uuid.description.lowercased()) }
    switch result {
    case .services(let found):
      return found.map {
        .object(["start": number($0.range.lowerBound), "end": number($0.range.upperBound), "uuid": text($0.uuid)])
      }
    case .includedServices(let found):
      return found.map {
        .object([
          "handle": number($0.handle), "start": number($0.range.lowerBound), "end": number($0.range.upperBound),
          "uuid": text($0.uuid),
        ])
      }
    case .characteristics(let found):
      return found.map {
        .object([
          "handle": number($0.handle), "end": number($0.endHandle), "value_handle": number($0.valueHandle),
          "properties": number(UInt16($0.properties.rawValue)), "uuid": text($0.uuid),
        ])
      }
    case .descriptors(let found): return found.map { .object(["handle": number($0.handle), "uuid": text($0.uuid)]) }
    case .values(let found):
      return found.map { .object(["handle": number($0.handle), "value": .string(Hex.encode($0.value))]) }
    case .value(let value), .cutValue(let value): return [.object(["value": .string(Hex.encode(value))])]
    case .mtu, .done: return []
    }
  }
}
