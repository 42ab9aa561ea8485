import ATT
import Bluetooth

/// A notification's outcome.
public enum NotifyOutcome: Hashable, Sendable {
  /// The value was sent.
  case sent
  /// The client has not subscribed.
  case notSubscribed
  /// The client must discover the changed database first; values could be misattributed (Core 5.4, Vol 3, Part G,
  /// 2.5.2.1).
  case outOfSync
  /// The bearer ended.
  case closed
}

/// An indication that waits, or is unconfirmed.
struct PendingIndication {
  enum Purpose {
    case value(IndicationID)
    case serviceChanged(ClosedRange<UInt16>)
  }
  var purpose: Purpose
  let handle: UInt16
  var value: [UInt8]
}

extension GATTServer {
  /// Notification (Core 5.4, Vol 3, Part F, 3.4.7.1), on the fixed channel as all values.
  func notify(
    _ value: [UInt8], of handle: UInt16, mtu: Int, actions: inout [GATTAction]
  ) -> NotifyOutcome {
    guard subscriptions[handle]?.contains(.notification) == true else { return .notSubscribed }
    guard awareness == .aware else { return .outOfSync }
    actions.append(.send(.fixed, Self.valuePacket(.handleValueNotification, handle, value, mtu)))
    return .sent
  }

  /// Multiple Handle Value Notification (3.4.7.4); single ones for clients that do not know it, and if it does not fit.
  func notify(
    _ values: [(handle: UInt16, value: [UInt8])], mtu: Int, actions: inout [GATTAction]
  ) -> NotifyOutcome {
    let wanted = values.filter { subscriptions[$0.handle]?.contains(.notification) == true }
    guard !wanted.isEmpty else { return .notSubscribed }
    guard awareness == .aware else { return .outOfSync }
    let size = wanted.reduce(1) { $0 + 4 + $1.value.count }
    guard wanted.count > 1, hasFeature(.multipleNotifications), size <= mtu else {
      for (handle, value) in wanted {
        actions.append(.send(.fixed, Self.valuePacket(.handleValueNotification, handle, value, mtu)))
      }
      return .sent
    }
    var packet = [ATTOpcode.multipleHandleValueNotification.rawValue]
    packet.reserveCapacity(size)
    for (handle, value) in wanted {
      packet.append(word: handle)
      packet.append(word: UInt16(clamping: value.count))
      packet += value
    }
    actions.append(.send(.fixed, packet))
    return .sent
  }

  /// Indication (3.4.7.2). It waits for earlier ones.
  mutating func indicate(
    _ value: [UInt8], of handle: UInt16, id: IndicationID, now: Instant, bearer: inout BearerState,
    actions: inout [GATTAction]
  ) {
    let problem: GATTError? =
      if let error = bearer.att.error {
        .bearer(error)
      } else if subscriptions[handle]?.contains(.indication) != true || awareness != .aware {
        .notSubscribed
      } else if indications.count >= Self.indicationLimit {
        .queueFull
      } else {
        nil
      }
    if let problem { return actions.append(.indicationFinished(id, .failure(problem))) }
    indications.append(PendingIndication(purpose: .value(id), handle: handle, value: value))
    sendIndication(now, &bearer, &actions)
  }

  /// The client confirmed the pending indication.
  mutating func confirmed(now: Instant, bearer: inout BearerState, actions: inout [GATTAction]) {
    guard let finished = indicationInFlight else { return }
    indicationInFlight = nil
    switch finished.purpose {
    case .value(let id): actions.append(.indicationFinished(id, .success(())))
    case .serviceChanged:
      if !isServiceChangePending { becomeAware(&actions) }
    }
    sendIndication(now, &bearer, &actions)
  }

  /// Indicates changed services to a subscribed client, and forgets its subscriptions to removed ones.
  mutating func databaseChanged(
    _ range: ClosedRange<UInt16>, now: Instant, bearer: inout BearerState, database: AttributeDatabase,
    actions: inout [GATTAction]
  ) {
    for handle in subscriptions.keys.sorted() where range.contains(handle) && database.position(of: handle) == nil {
      subscriptions[handle] = nil
      actions.append(.subscriptionChanged(handle: handle, []))
      actions.append(.clientStateChanged)
    }
    if hasFeature(.robustCaching) { becomeUnaware() }
    // The client knows at most the earlier database.
    knownHash = nil
    indicateServiceChanged(range, now, &bearer, database, &actions)
  }

  mutating func indicateServiceChanged(
    _ range: ClosedRange<UInt16>, _ now: Instant, _ bearer: inout BearerState, _ database: AttributeDatabase,
    _ actions: inout [GATTAction]
  ) {
    guard bearer.att.error == nil, let handle = database.handles(ofType: .serviceChanged, in: 1...0xFFFF).first,
      subscriptions[handle]?.contains(.indication) == true
    else { return }
    var range = range
    // At most one waits: its range is extended instead.
    if let index = indications.firstIndex(where: \.isServiceChange),
      case .serviceChanged(let other) = indications[index].purpose
    {
      range = min(range.lowerBound, other.lowerBound)...max(range.upperBound, other.upperBound)
      indications.remove(at: index)
    }
    var value: [UInt8] = []
    value.append(word: range.lowerBound)
    value.append(word: range.upperBound)
    // Service Changed precedes the values: they may have handles unknown to the client.
    indications.insert(PendingIndication(purpose: .serviceChanged(range), handle: handle, value: value), at: 0)
    sendIndication(now, &bearer, &actions)
  }

  /// True while the client has not confirmed the last change.
  var isServiceChangePending: Bool {
    indicationInFlight?.isServiceChange == true || indications.contains(where: \.isServiceChange)
  }

  mutating func endIndications(_ reason: BearerError, _ actions: inout [GATTAction]) {
    let pending = (indicationInFlight.map { [$0] } ?? []) + indications
    indicationInFlight = nil
    // Database changes not reported to the client are kept, for `clientState`.
    indications = pending.filter(\.isServiceChange)
    for case .value(let id) in pending.map(\.purpose) {
      actions.append(.indicationFinished(id, .failure(.bearer(reason))))
    }
  }

  private mutating func sendIndication(_ now: Instant, _ bearer: inout BearerState, _ actions: inout [GATTAction]) {
    guard !indications.isEmpty, bearer.att.sendIndication(now: now) else { return }
    let next = indications.removeFirst()
    indicationInFlight = next
    actions.append(.send(bearer.id, Self.valuePacket(.handleValueIndication, next.handle, next.value, bearer.mtu)))
  }

  /// A value is truncated to MTU − 3 octets (3.4.7.1); clients read the rest.
  private static func valuePacket(
    _ opcode: ATTOpcode, _ handle: UInt16, _ value: [UInt8], _ mtu: Int
  ) -> [UInt8] {
    let piece = value.prefix(mtu - 3)
    var packet: [UInt8] = []
    packet.reserveCapacity(3 + piece.count)
    packet.append(opcode.rawValue)
    packet.append(word: handle)
    packet.append(contentsOf: piece)
    return packet
  }
}

extension PendingIndication {
  var isServiceChange: Bool { if case .serviceChanged = purpose { true } else { false } }
}
