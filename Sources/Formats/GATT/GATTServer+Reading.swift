import ATT
import Bluetooth

/// The progress of Read Multiple (Variable).
struct MultipleRead {
  /// The remaining handles, in wire form.
  var handles: ArraySlice<UInt8>
  let isVariable: Bool
  /// The response as far as it is known.
  var packet: [UInt8]

  init(handles: ArraySlice<UInt8>, isVariable: Bool) {
    self.handles = handles
    self.isVariable = isVariable
    packet = [(isVariable ? ATTOpcode.readMultipleVariableResponse : .readMultipleResponse).rawValue]
  }

  var opcode: ATTOpcode { isVariable ? .readMultipleVariableRequest : .readMultipleRequest }
  /// The next value's handle.
  var next: UInt16? { handles.isEmpty ? nil : handles.word(at: 0) }

  /// Adds the next handle's value.
  mutating func append(_ value: [UInt8]) {
    if isVariable { packet.append(word: UInt16(clamping: value.count)) }
    packet += value
    handles = handles.dropFirst(2)
  }
}

extension GATTServer {
  /// The outcome of reading an attribute.
  enum Reading {
    case value([UInt8])
    case askOwner(AttributeOwner)
    case refused(ATTErrorCode)
  }

  /// Reads one attribute, whether the database or an owner holds its value.
  func read(_ position: AttributeDatabase.Position, _ database: inout AttributeDatabase) -> Reading {
    if let error = refusal(.read, database[position]) { return .refused(error) }
    switch database[position].source {
    case .stored(let value): return .value(value)
    case .owner: return .askOwner(database.owner(at: position))
    case .clientConfiguration:
      var value: [UInt8] = []
      value.append(word: subscriptions[database[position].characteristic.valueHandle]?.rawValue ?? 0)
      return .value(value)
    case .clientFeatures: return .value(features.isEmpty ? [0] : features)
    case .databaseHash:
      guard let hash = database.hash() else { return .refused(.readNotPermitted) }
      return .value(hash)
    }
  }

  /// Read and Read Blob (Core 5.4, Vol 3, Part F, 3.4.4.3 and 3.4.4.5).
  mutating func read(
    _ request: ATTOpcode, _ handle: UInt16, offset: UInt16, _ now: Instant, _ bearer: inout BearerState,
    _ database: inout AttributeDatabase, _ actions: inout [GATTAction]
  ) {
    guard let position = database.position(of: handle) else {
      return bearer.respond(error: .invalidHandle, to: request, at: handle, &actions)
    }
    switch read(position, &database) {
    case .refused(let error): bearer.respond(error: error, to: request, at: handle, &actions)
    case .askOwner(let owner):
      let token = bearer.ask(.read(request, handle), owner: owner, now: now)
      actions.append(.read(ReadQuestion(token: token, owner: owner, handle: handle, offset: offset)))
    case .value(let value):
      guard Int(offset) <= value.count else {
        return bearer.respond(error: .invalidOffset, to: request, at: handle, &actions)
      }
      if database[position].type == .databaseHash { hashRead(&bearer) }
      bearer.respond(value: value[Int(offset)...], to: request, &actions)
    }
  }

  /// Read By Type (3.4.4.1): attributes with a type and values of one length. The first unreadable one ends the list;
  /// an owner's value makes its own list.
  mutating func readByType(
    _ start: UInt16, _ end: UInt16, _ type: BluetoothUUID, _ now: Instant, _ bearer: inout BearerState,
    _ database: inout AttributeDatabase, _ actions: inout [GATTAction]
  ) {
    let request = ATTOpcode.readByTypeRequest
    guard start > 0, start <= end else {
      return bearer.respond(error: .invalidHandle, to: request, at: start, &actions)
    }
    var packet: [UInt8] = []
    var length = 0
    search: for handle in database.handles(ofType: type, in: start...end) {
      guard let position = database.position(of: handle) else { continue }
      switch read(position, &database) {
      case .refused(let error):
        if packet.isEmpty { return bearer.respond(error: error, to: request, at: handle, &actions) }
        break search
      case .askOwner(let owner):
        guard packet.isEmpty else { break search }
        let token = bearer.ask(.readByType(handle: handle), owner: owner, now: now)
        actions.append(.read(ReadQuestion(token: token, owner: owner, handle: handle, offset: 0)))
        return
      case .value(let value):
        let piece = value.prefix(Self.longestElement(bearer))
        if packet.isEmpty {
          length = piece.count
          packet.reserveCapacity(bearer.mtu)
          packet.append(ATTOpcode.readByTypeResponse.rawValue)
          packet.append(UInt8(2 + length))
        }
        guard piece.count == length, packet.count + 2 + length <= bearer.mtu else { break search }
        packet.append(word: handle)
        packet.append(contentsOf: piece)
        if type == .databaseHash { hashRead(&bearer) }
      }
    }
    guard !packet.isEmpty else { return bearer.respond(error: .attributeNotFound, to: request, at: start, &actions) }
    bearer.respond(packet, &actions)
  }

  /// The part of a value that fits into a single-element list: its size is one octet (3.4.4.2).
  private static func longestElement(_ bearer: BearerState) -> Int { min(bearer.mtu - 4, 253) }

  /// Read Multiple and Read Multiple Variable (3.4.4.7 and 3.4.4.11), from where it stopped.
  mutating func readMultiple(
    _ begun: MultipleRead, _ now: Instant, _ bearer: inout BearerState, _ database: inout AttributeDatabase,
    _ actions: inout [GATTAction]
  ) {
    var job = begun
    while let handle = job.next {
      guard let position = database.position(of: handle) else {
        return bearer.respond(error: .invalidHandle, to: job.opcode, at: handle, &actions)
      }
      switch read(position, &database) {
      case .refused(let error): return bearer.respond(error: error, to: job.opcode, at: handle, &actions)
      case .askOwner(let owner):
        let token = bearer.ask(.readMultiple(job), owner: owner, now: now)
        actions.append(.read(ReadQuestion(token: token, owner: owner, handle: handle, offset: 0)))
        return
      case .value(let value): job.append(value)
      }
    }
    bearer.respond([UInt8](job.packet.prefix(bearer.mtu)), &actions)
  }

  /// Handles an owner's answer to a read. An unexpected one is ignored.
  mutating func answerRead(
    _ token: QuestionToken, _ answer: Result<[UInt8], ATTErrorCode>, now: Instant, bearer: inout BearerState,
    database: inout AttributeDatabase, actions: inout [GATTAction]
  ) {
    guard let question = bearer.transaction.question, question.token == token else { return }
    let value: [UInt8]
    switch answer {
    case .failure(let error):
      bearer.transaction.question = nil
      return bearer.respond(error: error, to: question.request, at: question.handle, &actions)
    case .success(let given): value = [UInt8](given.prefix(Attribute.longestValue))
    }
    switch question.purpose {
    case .write, .execute: return  // That is another request; it stays open.
    case .read(let request, _):
      bearer.transaction.question = nil
      bearer.respond(value: value[...], to: request, &actions)
    case .readByType(let handle):
      bearer.transaction.question = nil
      let piece = value.prefix(Self.longestElement(bearer))
      var packet = [ATTOpcode.readByTypeResponse.rawValue, UInt8(2 + piece.count)]
      packet.append(word: handle)
      packet += piece
      bearer.respond(packet, &actions)
    case .readMultiple(var read):
      bearer.transaction.question = nil
      read.append(value)
      readMultiple(read, now, &bearer, &database, &actions)
    }
  }
}

extension GATTServer {
  /// The kind of access.
  enum Access {
    case read
    case write
  }

  /// The reason why this client may not use an attribute; nil if it may. The order is permission, authorization,
  /// encryption, key size, authentication (Core 5.4, Vol 3, Part F, 4; Part C, 10.3.1).
  func refusal(_ access: Access, _ attribute: Attribute) -> ATTErrorCode? {
    let requirement: AccessRequirement
    switch access {
    case .read:
      guard let read = attribute.permissions.read else { return .readNotPermitted }
      requirement = read
    case .write:
      guard let write = attribute.permissions.write else { return .writeNotPermitted }
      requirement = write
    }
    if requirement.authorization && !security.isAuthorized { return .insufficientAuthorization }
    guard requirement.level > 1 else { return nil }
    // Without a key the client must pair, with one it must encrypt (Part C, 10.3.1, table 10.2).
    if security.level < 2 { return security.isBonded ? .insufficientEncryption : .insufficientAuthentication }
    if security.keySize < requirement.shortestKey { return .encryptionKeySizeTooShort }
    if security.level < requirement.level { return .insufficientAuthentication }
    return nil
  }
}
