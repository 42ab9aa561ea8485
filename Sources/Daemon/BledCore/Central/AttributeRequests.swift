import ATT
import BledRPC
import Bluetooth
import BluetoothCrypto
import GATT

/// Sessions' requests for attributes on one link: checks each, and makes it an operation in the link's queue.
struct AttributeRequests {
  unowned let link: CentralLink

  /// Maximum values in one call.
  private static let maximumWrites = 64

  /// Enqueues an operation on an attribute.
  func enqueue(
    at path: AttributePath, _ kind: AttributePath.Kind, for session: Session, _ reply: any OpenReply,
    _ operation: @escaping (UInt16) throws -> LinkOperation
  ) throws {
    try path.check(kind)
    if let handle = path.handle { return link.enqueue(try operation(handle)) }
    try enqueue(at: [path], for: session, reply) {
      let found = try link.locate(path, for: session)
      let operation = try operation(found.handle)
      operation.found = AttributeFound(handle: found.handle, uuid: found.uuid)
      return operation
    }
  }

  /// Enqueues an operation on several attributes.
  /// - Parameter operation: gets as many attributes as there are paths.
  func enqueue(
    at paths: [AttributePath], _ kind: AttributePath.Kind, for session: Session, _ reply: any OpenReply,
    _ operation: @escaping ([(handle: UInt16, uuid: BluetoothUUID?)]) throws -> LinkOperation
  ) throws {
    for path in paths { try path.check(kind) }
    try enqueue(at: paths, for: session, reply) {
      try operation(paths.map { path in try link.locate(path, for: session) })
    }
  }

  /// Enqueues an operation on attributes. Unknown ones named by UUIDs are discovered at the operation's turn.
  /// - Parameter located: makes the operation once all are known.
  private func enqueue(
    at paths: [AttributePath], for session: Session, _ reply: any OpenReply,
    _ located: @escaping () throws -> LinkOperation
  ) throws {
    if try link.discovery.isKnown(paths) { return link.enqueue(try located()) }
    let completion = link.discovering(DiscoveryMachine(.attributes(paths))) { lookup in
      let annotation = lookup.annotation
      lookup = try located()
      (lookup.wasLookedUp, lookup.annotation) = (true, annotation)
      return lookup.isCommand ? nil : lookup.procedure ?? LinkOperation.next(&lookup, nil)
    } fail: {
      reply.fail($0)
    }
    link.enqueue(LinkOperation(session, .lookup, completion))
  }

  func discover(_ request: DiscoveryRequest, for session: Session) {
    link.enqueue(operation(request, for: session))
  }

  private func operation(_ request: DiscoveryRequest, for session: Session) -> LinkOperation {
    let completion = link.discovering(link.discovery.machine(for: request)) { [unowned link] in
      link.reportProgress(of: request, to: session)
    } found: { [unowned link] _ in
      request.succeed(try link.discovery.answer(request, of: session))
      link.watchServices()
      return nil
    } fail: {
      request.fail($0)
    }
    return LinkOperation(session, .discovery(request.clock), completion)
  }

  /// Discovers all there is.
  func discoverEverything(_ params: GATTDiscover.Params, for session: Session, _ reply: Reply<GATTServices>) throws {
    let timeout = params.timeout ?? 60
    guard timeout > 0, timeout <= 86_400 else {
      throw BledError.invalidParameter.error("\"timeout\" must be more than 0 seconds and at most a day")
    }
    let clock = DiscoveryClock(link.broker.scheduler)
    clock.start(.seconds(timeout)) { [weak link = link, unowned clock] in
      guard let link else { return }
      let error = GAPError.timeout.error(
        "the discovery did not finish within \(timeout) s; \(link.discovery.known.services.count) services were found: give a longer \"timeout\", or discover only the services that you need with \(GATTDiscoverServices.name)"
      )
      link.operations.end(of: session, error) { !$0.isDiscovery(with: clock) }
    }
    discover(.everything(reply, clock), for: session)
  }

  /// Discovers the contents of a service or characteristic.
  /// - Parameter kind: the kind of attribute in the scope.
  func discover(
    in scope: GATTScope, _ kind: AttributePath.Kind, for session: Session, _ reply: any OpenReply,
    _ request: @escaping (DiscoveryScope) -> DiscoveryRequest
  ) throws {
    try enqueue(at: scope.attribute, kind, for: session, reply) { handle in
      operation(request(DiscoveryScope(handle: handle, uuids: scope.uuids)), for: session)
    }
  }

  /// Reads a value of any length.
  func read(_ params: GATTRead.Params, for session: Session, _ reply: Reply<GATTRead.Result>) throws {
    try enqueue(at: params.attribute, .value, for: session, reply) { handle in
      let properties = try link.discovery.check(.read, of: handle, "read", force: params.force)
      if let properties, !properties.isDisjoint(with: [.notify, .indicate]) { logPolling(of: handle, by: session) }
      return LinkOperation(session, .read, .init(reply), .readLong(handle))
    }
  }

  /// Points out in the log, once per session, that it polls a value with notifications.
  private func logPolling(of handle: UInt16, by session: Session) {
    guard !link.receivers.contains(session, of: handle),
      session.polling.read(.init(device: link.hub.peripheral.number, handle: handle), at: link.broker.scheduler.now)
    else { return }
    link.broker.logger.notice(
      """
      session \(session.id) \(session.name) reads characteristic \(handle.handleText) of \(link.hub.peripheral.address) again and again; \
      gatt.subscribe would tell it of changes
      """, metadata: .about(link.hub.peripheral, session: session, adapter: link.hub.slot))
  }

  /// Writes a value, with or without a response.
  func write(_ params: GATTWrite.Params, for session: Session, _ reply: Reply<AttributeFound>) throws {
    let value = params.value.octets
    try params.check()
    try enqueue(at: params.attribute, .value, for: session, reply) { handle in
      try checkIsNotShared(handle)
      let longest = link.hub.mtu - 3
      if params.isCommand { return try command(params, to: handle, for: session, reply) }
      try link.discovery.check(.write, of: handle, "written with response", force: params.force)
      let procedure: GATTProcedure =
        if let offset = params.offset {
          .writeLong(handle, value, offset: UInt16(clamping: offset))
        } else {
          value.count <= longest ? .write(handle, value) : .writeLong(handle, value)
        }
      return LinkOperation(session, .write, .init(reply), procedure)
    }
  }

  /// A write without response, signed or not.
  private func command(
    _ params: GATTWrite.Params, to handle: UInt16, for session: Session, _ reply: Reply<AttributeFound>
  ) throws -> LinkOperation {
    let (value, isSigned) = (params.value.octets, params.signed ?? false)
    let longest = link.hub.mtu - (isSigned ? 3 + ATTSignature.length : 3)
    try link.discovery.check(
      isSigned ? .authenticatedSignedWrites : .writeWithoutResponse, of: handle,
      isSigned ? "written with a signature" : "written without response", force: params.force)
    guard value.count <= longest else {
      throw BledError.invalidParameter.error(
        """
        "value" has \(value.count) octets; \(isSigned ? "signed" : "without response") the limit on this link is \
        \(longest)
        """)
    }
    return LinkOperation(
      session, .command(isSigned: isSigned), .init(reply), .writeWithoutResponse(handle, value))
  }

  /// Refuses a descriptor handle that sessions share.
  private func checkIsNotShared(_ handle: UInt16) throws {
    guard !link.discovery.isConfiguration(handle) else {
      throw BledError.notPermitted.error("sessions share this descriptor: call gatt.subscribe or gatt.unsubscribe")
    }
  }

  /// Reads all values with a UUID in a range.
  func read(_ params: GATTReadUsingUUID.Params, for session: Session, _ reply: Reply<AttributeValues>) throws {
    let (start, end) = (params.start ?? 1, params.end ?? 0xFFFF)
    guard start > 0, start <= end else {
      throw BledError.invalidParameter.error("\"start\" must be 1 or more, and \"end\" not less than that")
    }
    let completion = LinkOperation.Completion(reply) { result in
      guard case .values(let found) = result else { throw GATTResult.unexpected() }
      return AttributeValues(values: found.map { AttributeValue(handle: $0.handle, value: HexBytes($0.value)) })
    }
    link.enqueue(LinkOperation(session, .procedure, completion, .readByUUID(params.uuid, in: start...end)))
  }

  /// Reads several values with one request.
  func read(
    _ params: GATTReadMultiple.Params, for session: Session, _ reply: Reply<GATTReadMultiple.Result>
  ) throws {
    let most = (link.hub.mtu - 1) / 2
    guard 2...most ~= params.attributes.count else {
      throw BledError.invalidParameter.error("\"attributes\" must have 2 to \(most) elements on this link")
    }
    try enqueue(at: params.attributes, .value, for: session, reply) { found in
      for attribute in found { try link.discovery.check(.read, of: attribute.handle, "read") }
      let handles = found.map(\.handle)
      let isVariable = params.variable ?? false
      let name = isVariable ? "Read Multiple Variable" : "Read Multiple"
      let completion = LinkOperation.Completion(reply, name) { result in
        switch result {
        case .value(let octets): return .init(value: HexBytes(octets))
        case .values(let values):
          return .init(
            values: zip(values, found).map {
              AttributeValue(handle: $0.handle, uuid: $1.uuid, value: HexBytes($0.value))
            })
        default: throw GATTResult.unexpected()
        }
      }
      return LinkOperation(
        session, .procedure, completion, isVariable ? .readMultipleVariable(handles) : .readMultiple(handles))
    }
  }

  /// Writes several values at once, or none.
  func write(
    _ params: GATTWriteReliably.Params, for session: Session, _ reply: Reply<GATTWriteReliably.Result>
  ) throws {
    guard 1...Self.maximumWrites ~= params.writes.count else {
      throw BledError.invalidParameter.error("\"writes\" must have 1 to \(Self.maximumWrites) elements")
    }
    for write in params.writes { try write.value.checkFits(at: write.offset) }
    try enqueue(at: params.writes.map(\.attribute), .value, for: session, reply) { found in
      for attribute in found {
        try checkIsNotShared(attribute.handle)
        try link.discovery.check(.write, of: attribute.handle, "written with response")
      }
      let writes = zip(found, params.writes).map {
        AttributeWrite(handle: $0.handle, offset: UInt16(clamping: $1.offset ?? 0), value: $1.value.octets)
      }
      let completion = LinkOperation.Completion(reply, "Prepare Write") { _ in
        .init(written: found.map { AttributeFound(handle: $0.handle, uuid: $0.uuid) })
      }
      return LinkOperation(session, .procedure, completion, .reliableWrite(writes))
    }
  }

  /// Reads the server features (Core 5.4, Vol 3, Part G, 7.4).
  func readServerFeatures(for session: Session, _ reply: Reply<GATTServerFeatures.Result>) {
    let completion = LinkOperation.Completion(
      { outcome in
        guard case .values(let found) = try outcome.orBluetoothError(), let value = found.first?.value else {
          throw GATTResult.unexpected()
        }
        reply.succeed(.init(enhancedBearers: (value.first ?? 0) & 1 != 0, value: HexBytes(value)))
      },
      fail: { error in
        guard error.isATT(.attributeNotFound) else { return reply.fail(error) }
        reply.succeed(.init(enhancedBearers: false, value: nil))
      })
    link.enqueue(LinkOperation(session, .procedure, completion, .readByUUID(0x2B3A)))
  }
}

extension LinkOperation.Completion {
  /// - Parameters:
  ///   - request: the name of a request that some devices do not support.
  ///   - answer: makes the call's result.
  fileprivate init<Result>(
    _ reply: Reply<Result>, _ request: String? = nil, _ answer: @escaping (GATTResult) throws -> Result
  ) {
    self.init { outcome in
      reply.succeed(try answer(outcome.orBluetoothError()))
    } fail: { error in
      guard let request, error.isATT(.requestNotSupported) else { return reply.fail(error) }
      reply.fail(
        GAPError.notSupported.error("the device does not support the request \(request): use the values one by one"))
    }
  }

  /// Answers with the value read.
  fileprivate init(_ reply: Reply<GATTRead.Result>) {
    let read = { (operation: inout LinkOperation, outcome: LinkOperation.Outcome?) throws -> GATTProcedure? in
      var answer = GATTRead.Result(
        value: HexBytes([]), handle: operation.found.handle, uuid: operation.found.uuid)
      switch try outcome?.orBluetoothError() {
      case .value(let value)?: answer.value = HexBytes(value)
      case .cutValue(let value)?: (answer.value, answer.truncated) = (HexBytes(value), true)
      default: throw GATTResult.unexpected()
      }
      reply.succeed(answer)
      return nil
    }
    self.init(next: read, fail: { reply.fail($0) })
  }
}

extension BluetoothError {
  /// True if a device answered with this error.
  fileprivate func isATT(_ error: ATTErrorCode) -> Bool { domain == .att && code == Int(error.rawValue) }
}

extension GATTWrite.Params {
  /// True if no response is expected.
  fileprivate var isCommand: Bool { !(response ?? true) || signed ?? false }

  /// Checks the params without the device.
  fileprivate func check() throws {
    try value.checkFits(at: offset)
    guard offset == nil || response ?? true else {
      throw BledError.invalidParameter.error("\"offset\" requires a write with response")
    }
    guard !(signed ?? false) || (offset == nil && !(response ?? false)) else {
      throw BledError.invalidParameter.error("a \"signed\" write has neither \"offset\" nor \"response\"")
    }
  }
}

extension HexBytes {
  /// Checks that a value fits into its attribute.
  fileprivate func checkFits(at offset: Int?) throws {
    guard let offset else {
      guard octets.count <= Attribute.longestValue else {
        throw BledError.invalidParameter.error(
          "\"value\" has \(octets.count) octets; the limit is \(Attribute.longestValue)")
      }
      return
    }
    guard 0...Attribute.longestValue ~= offset, offset + octets.count <= Attribute.longestValue else {
      throw BledError.invalidParameter.error(
        "\"offset\" must be 0 or more, and \"value\" must end at \(Attribute.longestValue) octets from the beginning")
    }
  }
}
