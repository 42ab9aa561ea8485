import BledRPC
import Bluetooth
import GATT

/// The receivers of one device's notifications and indications: subscribed sessions, and sessions that read a
/// characteristic's values from a socket, which are subscribed, too.
final class ValueReceivers {
  private unowned let link: CentralLink
  private unowned let hub: LinkHub
  private var subscriptions = Subscriptions()
  /// The sockets for a characteristic's values, by handle: at most one per direction.
  private var acquired: [UInt16: [AcquiredCharacteristic]] = [:]
  private var early: EarlyValues

  init(on link: CentralLink) {
    self.link = link
    hub = link.hub
    early = EarlyValues(since: hub.scheduler.now)
  }

  /// A session's subscribed handles, in order, without those read from a socket.
  func subscriptions(of session: Session) -> [UInt16] {
    subscriptions.handles(of: session).filter { reader(of: $0)?.session !== session }
  }

  /// The characteristics with a socket for a session, by handle.
  func acquisitions(of session: Session) -> [UInt16] {
    acquired.filter { $0.value.contains { $0.session === session } }.keys.sorted()
  }

  /// The handles with indications to a session.
  func indications(of session: Session) -> [UInt16] { subscriptions.indications(of: session) }

  /// All sessions with a subscription.
  var subscribers: Set<Session> { subscriptions.members }

  /// True if the session receives the handle's values.
  func contains(_ session: Session, of handle: UInt16) -> Bool {
    subscriptions.members(of: handle).contains(session)
  }

  // MARK: Subscriptions

  /// Makes a session a subscriber, before the request to the device.
  func join(
    _ session: Session, to handle: UInt16, indications: Bool?, _ properties: CharacteristicProperties
  ) throws {
    if let indications {
      let kind: CharacteristicProperties = indications ? .indicate : .notify
      try link.discovery.check(kind, of: handle, indications ? "indicated" : "notified")
    }
    try subscriptions.join(
      session, to: handle, as: indications.map { $0 ? .indication : .notification },
      else: properties.contains(.notify) ? .notification : .indication)
  }

  func leave(_ session: Session, from handle: UInt16) { subscriptions.leave(session, from: handle) }

  /// The operation that changes a session's subscription, or the daemon's, at its turn on the link.
  func operation(
    changing handle: UInt16, on: Bool, for session: Session?, _ reply: Reply<AttributeFound>?
  ) -> LinkOperation {
    var change = SubscriptionChange(handle, on: on, reply)
    let completion = LinkOperation.Completion(
      next: { [unowned self] operation, outcome in
        let result = try outcome?.orBluetoothError()
        if case .descriptors(let found)? = result { link.discovery.add(found, of: handle) }
        let next = try subscriptions.proceed(
          &change, hasAnswered: result != nil, for: session, operation.found, known: link.discovery.known,
          watched: link.serviceWatch.handle)
        if on, session != nil {
          for value in early.remove(of: handle, at: hub.scheduler.now) { received(value, of: handle) }
        }
        if let next { return next }
        reply?.succeed(operation.found)
        subscriptions.ended(change, of: session)
        return nil
      },
      fail: { [unowned self] error in
        // The link's end reports the end of its subscriptions.
        let isLost = subscriptions.failed(change, of: session, error)
        if isLost, hub.isOpen, let session { reportLost(handle, session, error) }
        reply?.fail(error)
      })
    return LinkOperation(session, .subscription, completion)
  }

  /// A session disconnects from the device.
  func release(_ session: Session, _ error: BluetoothError) {
    endAcquired(error) { $0.session === session }
    for handle in subscriptions.handles { endSubscription(to: handle, of: session) }
  }

  /// Handles of the device are no longer valid.
  func forget(_ range: ClosedRange<UInt16>, _ error: BluetoothError) {
    let serviceChanged = link.discovery.known.serviceChanged
    for handle in subscriptions.handles where range.contains(handle) && handle != serviceChanged {
      // No change is written: the descriptor's handle may now belong to any attribute.
      for session in subscriptions.remove(handle) where reader(of: handle)?.session !== session {
        reportLost(handle, session, error)
      }
    }
  }

  func reportLost(_ handle: UInt16, _ session: Session, _ error: BluetoothError) {
    session.send(
      GATTSubscriptionLost.self, .init(peripheral: hub.peripheral.id, handle: handle, reason: RPCError(error)))
  }

  private func endSubscription(to handle: UInt16, of session: Session) {
    guard subscriptions.end(handle, of: session) else { return }
    link.enqueue(operation(changing: handle, on: false, for: nil, nil))
  }

  // MARK: Values over sockets

  func add(_ characteristic: AcquiredCharacteristic) {
    acquired[characteristic.handle, default: []].append(characteristic)
  }

  /// The socket that receives a characteristic's values.
  private func reader(of handle: UInt16) -> AcquiredCharacteristic? { acquired[handle]?.first(where: \.values) }

  /// The characteristic is released.
  func released(_ characteristic: AcquiredCharacteristic) {
    guard let index = acquired[characteristic.handle]?.firstIndex(where: { $0 === characteristic }) else { return }
    acquired[characteristic.handle]?.remove(at: index)
    if acquired[characteristic.handle]?.isEmpty == true { acquired[characteristic.handle] = nil }
    if characteristic.values { endSubscription(to: characteristic.handle, of: characteristic.session) }
  }

  /// Ends the matching ones.
  func endAcquired(_ error: BluetoothError, where isMeant: (AcquiredCharacteristic) -> Bool) {
    let all = acquired.sorted { $0.key < $1.key }.flatMap(\.value)
    for characteristic in all where isMeant(characteristic) {
      characteristic.pipe.end(error)
    }
  }

  /// Checks that no session has a socket for these directions of a characteristic, and that the session does not
  /// already receive the values requested for one.
  func checkIsFree(_ handle: UInt16, for session: Session, writes: Bool, values: Bool) throws {
    for other in acquired[handle] ?? [] where (writes && other.writes) || (values && other.values) {
      throw other.session === session
        ? Self.isAcquired(handle)
        : BledError.alreadyInProgress.error("another session has acquired characteristic \(handle.handleText)")
    }
    guard !values || !contains(session, of: handle) else {
      throw BledError.alreadyInProgress.error(
        "this session has subscribed to characteristic \(handle.handleText): call gatt.unsubscribe before")
    }
  }

  /// Checks that the session has no socket that receives the values.
  func checkIsNotAcquired(_ handle: UInt16, by session: Session) throws {
    if reader(of: handle)?.session === session { throw Self.isAcquired(handle) }
  }

  private static func isAcquired(_ handle: UInt16) -> BluetoothError {
    BledError.alreadyInProgress.error(
      "this session has acquired characteristic \(handle.handleText): close its descriptor first")
  }

  // MARK: Values from the device

  /// The device sent a value.
  func received(_ value: [UInt8], of handle: UInt16) {
    if hub.isProven, subscriptions.receivers(of: handle).isEmpty {
      early.keep(value, of: handle, at: hub.scheduler.now)
    }
    for call in subscriptions.answered(by: handle) { call.reply.succeed(call.found) }
    var owner: Session?
    if let characteristic = reader(of: handle) {
      characteristic.pipe.receive(value)
      owner = characteristic.session
    }
    for session in subscriptions.deliver(value, of: handle, from: hub, except: owner) {
      loseSubscription(to: handle, of: session)
    }
  }

  /// Packets from the device were dropped on this machine. A session without room for the report loses its
  /// subscriptions.
  func packetsDropped(_ count: Int) {
    for session in subscriptions.reportDropped(count, of: hub) {
      for handle in subscriptions(of: session) { loseSubscription(to: handle, of: session) }
    }
  }

  private func loseSubscription(to handle: UInt16, of session: Session) {
    endSubscription(to: handle, of: session)
    reportLost(handle, session, BledError.tooSlow.error("the session did not read its values fast enough"))
  }
}

extension AttributeRequests {
  /// Subscribes a session to a characteristic's notifications, or to its indications if it has only these or they are
  /// requested.
  func subscribe(_ params: GATTSubscribe.Params, for session: Session, _ reply: Reply<AttributeFound>) throws {
    try enqueue(at: params.attribute, .characteristic, for: session, reply) { handle in
      try link.receivers.checkIsNotAcquired(handle, by: session)
      guard let properties = link.discovery.known.properties(of: handle),
        !properties.isDisjoint(with: [.notify, .indicate])
      else {
        _ = try link.discovery.known.characteristic(at: handle)
        throw BledError.notAllowedByProperties.error(
          "characteristic \(handle.handleText) supports neither notifications nor indications")
      }
      try link.receivers.join(session, to: handle, indications: params.indications, properties)
      reply.afterwards = { [unowned session, id = link.hub.peripheral.id] outcome in
        guard case .failure(let error) = outcome else { return }
        session.send(GATTSubscriptionLost.self, .init(peripheral: id, handle: handle, reason: error))
      }
      return link.receivers.operation(changing: handle, on: true, for: session, reply)
    }
  }

  /// Ends a session's subscription; without one it does nothing.
  func unsubscribe(_ params: GATTUnsubscribe.Params, for session: Session, _ reply: Reply<AttributeFound>) throws {
    try enqueue(at: params.attribute, .characteristic, for: session, reply) { handle in
      try link.receivers.checkIsNotAcquired(handle, by: session)
      link.receivers.leave(session, from: handle)
      return link.receivers.operation(changing: handle, on: false, for: session, reply)
    }
  }
}
