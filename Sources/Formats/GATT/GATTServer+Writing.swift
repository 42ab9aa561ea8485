import ATT
import Bluetooth

/// Checks a signed write (Core 5.4, Vol 3, Part H, 2.4.5): gets the whole packet, and returns the signature's counter;
/// nil if its code is wrong.
public typealias SignatureVerifier = @Sendable (_ packet: [UInt8]) -> UInt32?

/// The remaining work of Execute Write.
struct ExecuteWrite {
  struct Group {
    let owner: AttributeOwner
    var writes: [AttributeWrite]
  }
  /// The owners that have not agreed yet; the first was asked.
  var groups: [Group]
  /// The server's own values, to be set when all owners agreed.
  var values: [(handle: UInt16, value: [UInt8])]
}

extension GATTServer {
  private static let writeResponse = ATTPDU.writeResponse.encoded
  private static let executeWriteResponse = ATTPDU.executeWriteResponse.encoded

  /// Write Request (Core 5.4, Vol 3, Part F, 3.4.5.1).
  mutating func write(
    _ handle: UInt16, _ value: ArraySlice<UInt8>, _ now: Instant, _ bearer: inout BearerState,
    _ database: inout AttributeDatabase, _ actions: inout [GATTAction]
  ) {
    guard let position = database.position(of: handle) else {
      return bearer.respond(error: .invalidHandle, to: .writeRequest, at: handle, &actions)
    }
    if let error = refusal(.write, database[position]) ?? misfit(value, database[position]) {
      return bearer.respond(error: error, to: .writeRequest, at: handle, &actions)
    }
    if case .owner = database[position].source {
      let owner = database.owner(at: position)
      let token = bearer.ask(.write(handle), owner: owner, now: now)
      let write = AttributeWrite(handle: handle, value: [UInt8](value))
      actions.append(.write(WriteQuestion(token: token, owner: owner, writes: [write])))
      return
    }
    // The client is notified of success before others are notified of the change.
    bearer.respond(Self.writeResponse, &actions)
    set(value, at: position, &database, &actions)
  }

  /// Write Command (3.4.5.3): a forbidden one is ignored.
  mutating func writeCommand(
    _ handle: UInt16, _ value: ArraySlice<UInt8>, _ database: inout AttributeDatabase, _ actions: inout [GATTAction]
  ) {
    guard awareness == .aware, let position = database.position(of: handle),
      refusal(.write, database[position]) == nil, misfit(value, database[position]) == nil
    else { return }
    if case .owner = database[position].source {
      let write = AttributeWrite(handle: handle, value: [UInt8](value))
      actions.append(.write(WriteQuestion(token: nil, owner: database.owner(at: position), writes: [write])))
    } else {
      set(value, at: position, &database, &actions)
    }
  }

  /// Signed Write Command (3.4.5.4): a wrong signature, or a replay, is ignored (Part C, 10.4.2).
  mutating func signedWrite(
    _ handle: UInt16, _ value: ArraySlice<UInt8>, _ signature: ArraySlice<UInt8>, _ database: inout AttributeDatabase,
    _ actions: inout [GATTAction]
  ) {
    let packet = ATTPDU.signedWriteCommand(handle, value: value, signature: signature).encoded
    guard let counter = signatureVerifier?(packet) else { return }
    if let lastSignCounter, counter <= lastSignCounter { return }
    lastSignCounter = counter
    actions.append(.signatureAccepted(counter: counter))
    writeCommand(handle, value, &database, &actions)
  }

  /// Handles an owner's answer to a write. An answer without a pending question is ignored.
  mutating func answerWrite(
    _ token: QuestionToken, _ error: ATTErrorCode?, now: Instant, bearer: inout BearerState,
    database: inout AttributeDatabase, actions: inout [GATTAction]
  ) {
    guard let question = bearer.transaction.question, question.token == token else { return }
    switch question.purpose {
    case .read, .readByType, .readMultiple: return  // That is another request; it stays open.
    case .write, .execute: bearer.transaction.question = nil
    }
    if let error { return bearer.respond(error: error, to: question.request, at: question.handle, &actions) }
    if case .execute(var execute) = question.purpose {
      execute.groups.removeFirst()
      proceed(execute, now, &bearer, &database, &actions)
    } else {
      bearer.respond(Self.writeResponse, &actions)
    }
  }

  // MARK: - Prepared writes

  /// Prepare Write (3.4.6.1): offset and length are looked at when it is executed.
  mutating func prepareWrite(
    _ handle: UInt16, _ offset: UInt16, _ value: ArraySlice<UInt8>, _ bearer: inout BearerState,
    _ database: AttributeDatabase,
    _ actions: inout [GATTAction]
  ) {
    let request = ATTOpcode.prepareWriteRequest
    guard let position = database.position(of: handle) else {
      return bearer.respond(error: .invalidHandle, to: request, at: handle, &actions)
    }
    if let error = refusal(.write, database[position]) {
      return bearer.respond(error: error, to: request, at: handle, &actions)
    }
    let write = AttributeWrite(handle: handle, offset: offset, value: [UInt8](value))
    guard bearer.transaction.prepare(write) else {
      return bearer.respond(error: .prepareQueueFull, to: request, at: handle, &actions)
    }
    bearer.respond(ATTPDU.prepareWriteResponse(handle, offset: offset, value: value).encoded, &actions)
  }

  /// Execute Write (3.4.6.3): everything is checked first, then the owners are asked in turn, then the server's own
  /// values are set.
  mutating func executeWrite(
    _ execute: Bool, _ now: Instant, _ bearer: inout BearerState, _ database: inout AttributeDatabase,
    _ actions: inout [GATTAction]
  ) {
    let writes = bearer.transaction.removePrepared()
    guard execute else { return bearer.respond(Self.executeWriteResponse, &actions) }
    switch plan(writes, &database) {
    case .success(let plan): proceed(plan, now, &bearer, &database, &actions)
    case .failure(let refused):
      bearer.respond(error: refused.error, to: .executeWriteRequest, at: refused.handle, &actions)
    }
  }

  private struct RefusedWrite: Error {
    let handle: UInt16
    let error: ATTErrorCode
  }

  private func plan(_ writes: [AttributeWrite], _ database: inout AttributeDatabase) -> Result<
    ExecuteWrite, RefusedWrite
  > {
    var plan = ExecuteWrite(groups: [], values: [])
    let spansSeveral = writes.contains { $0.handle != writes[0].handle }
    for write in writes {
      func refuse(_ error: ATTErrorCode) -> Result<ExecuteWrite, RefusedWrite> {
        .failure(RefusedWrite(handle: write.handle, error: error))
      }
      // The database may have changed since the write was prepared.
      guard let position = database.position(of: write.handle) else { return refuse(.invalidHandle) }
      let attribute = database[position]
      if let error = refusal(.write, attribute) { return refuse(error) }
      // Writes that belong together require the Reliable Write property (Part G, 4.9.5).
      if spansSeveral, attribute.characteristic.valueHandle == write.handle, !attribute.characteristic.isReliable {
        return refuse(.requestNotSupported)
      }
      if case .owner = attribute.source {
        guard Int(write.offset) <= attribute.maximumLength else { return refuse(.invalidOffset) }
        guard Int(write.offset) + write.value.count <= attribute.maximumLength else {
          return refuse(.invalidAttributeValueLength)
        }
        plan.add(write, owner: database.owner(at: position))
        continue
      }
      let known = plan.values.firstIndex { $0.handle == write.handle }
      let before: [UInt8]
      if let known {
        before = plan.values[known].value
      } else if case .value(let value) = current(position, &database) {
        before = value
      } else {
        before = []
      }
      guard Int(write.offset) <= before.count else { return refuse(.invalidOffset) }
      let after = before.prefix(Int(write.offset)) + write.value
      guard after.count <= attribute.maximumLength else { return refuse(.invalidAttributeValueLength) }
      if let known {
        plan.values[known].value = [UInt8](after)
      } else {
        plan.values.append((write.handle, [UInt8](after)))
      }
    }
    for (handle, value) in plan.values {
      guard let attribute = database.attribute(handle) else { continue }
      if let error = misfit(value[...], attribute) { return .failure(RefusedWrite(handle: handle, error: error)) }
    }
    return .success(plan)
  }

  /// The value as it is, whether or not the client may read it.
  private func current(_ position: AttributeDatabase.Position, _ database: inout AttributeDatabase) -> Reading {
    if case .stored(let value) = database[position].source { return .value(value) }
    return read(position, &database)
  }

  private mutating func proceed(
    _ execute: ExecuteWrite, _ now: Instant, _ bearer: inout BearerState, _ database: inout AttributeDatabase,
    _ actions: inout [GATTAction]
  ) {
    if let group = execute.groups.first {
      let token = bearer.ask(.execute(execute), owner: group.owner, now: now)
      actions.append(.write(WriteQuestion(token: token, owner: group.owner, writes: group.writes)))
      return
    }
    bearer.respond(Self.executeWriteResponse, &actions)
    for (handle, value) in execute.values {
      guard let position = database.position(of: handle) else { continue }
      set(value[...], at: position, &database, &actions)
    }
  }

  // MARK: - The server's own values

  /// The reason why an attribute cannot have a value; nil if it can.
  private func misfit(_ value: ArraySlice<UInt8>, _ attribute: Attribute) -> ATTErrorCode? {
    switch attribute.source {
    case .stored, .owner: return value.count > attribute.maximumLength ? .invalidAttributeValueLength : nil
    case .clientConfiguration:
      guard value.count == 2 else { return .invalidAttributeValueLength }
      return ClientConfiguration(rawValue: value.word(at: 0)).isSubset(of: attribute.characteristic.possible)
        ? nil : .valueNotAllowed
    case .clientFeatures:
      guard !value.isEmpty, value.count <= attribute.maximumLength else { return .invalidAttributeValueLength }
      // Features can be switched on, never off (Part G, 7.2).
      return zip(features, value + [UInt8](repeating: 0, count: features.count)).allSatisfy { $0 & ~$1 == 0 }
        ? nil : .valueNotAllowed
    case .databaseHash: return .writeNotPermitted
    }
  }

  /// Sets a fitting value.
  private mutating func set(
    _ value: ArraySlice<UInt8>, at position: AttributeDatabase.Position, _ database: inout AttributeDatabase,
    _ actions: inout [GATTAction]
  ) {
    switch database[position].source {
    case .stored:
      database.store(value, at: position)
      actions.append(.stored(handle: database[position].handle))
    case .clientConfiguration:
      configure(
        database[position].characteristic.valueHandle, ClientConfiguration(rawValue: value.word(at: 0)), &actions)
    case .clientFeatures:
      guard !features.elementsEqual(value) else { return }
      features = [UInt8](value)
      actions.append(.clientStateChanged)
    case .owner, .databaseHash: break
    }
  }

  private mutating func configure(_ handle: UInt16, _ configuration: ClientConfiguration, _ actions: inout [GATTAction])
  {
    configured.insert(handle)
    dormant[handle] = nil
    let before = subscriptions[handle] ?? []
    guard before != configuration else { return }
    subscriptions[handle] = configuration.isEmpty ? nil : configuration
    actions.append(.subscriptionChanged(handle: handle, configuration))
    actions.append(.clientStateChanged)
  }
}

extension Attribute.Membership {
  /// The configuration a client can write to this characteristic.
  var possible: ClientConfiguration {
    var possible: ClientConfiguration = []
    if properties.contains(.notify) { possible.insert(.notification) }
    if properties.contains(.indicate) { possible.insert(.indication) }
    return possible
  }
}

extension ExecuteWrite {
  /// Adds a write to its owner's others; a piece that continues the last one is merged with it.
  mutating func add(_ write: AttributeWrite, owner: AttributeOwner) {
    guard let index = groups.firstIndex(where: { $0.owner == owner }) else {
      groups.append(Group(owner: owner, writes: [write]))
      return
    }
    let last = groups[index].writes.count - 1
    let before = groups[index].writes[last]
    if before.handle == write.handle, Int(before.offset) + before.value.count == Int(write.offset) {
      groups[index].writes[last].value += write.value
    } else {
      groups[index].writes.append(write)
    }
  }
}
