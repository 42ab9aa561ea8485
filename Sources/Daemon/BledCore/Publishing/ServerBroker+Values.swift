import BledRPC
import Bluetooth
import GATT

extension ServerBroker {
  /// Maximum values sent at once.
  private static let maximumValues = 8

  /// Sends a value to its subscribers: all or none, if one of them has no room, and the session is notified when there
  /// is room again; or, as the session chooses, to each subscriber from a queue of its own. Change-unaware devices get
  /// no values (Core 5.4, Vol 3, Part G, 2.5.2.1); the result lists these, the devices that got only the beginning, and
  /// the ones that miss a value.
  func notify(_ params: ServerNotify.Params, for session: Session) throws -> ServerNotify.Result {
    if let confirmation = params.confirmation, !(0...Int(UInt32.max) ~= confirmation) {
      throw BledError.invalidParameter.error("\"confirmation\" must be 0 to \(UInt32.max)")
    }
    let update = ServerUpdate(
      handle: params.handle, value: params.value.octets, confirmation: params.confirmation)
    try check(update, by: session)
    let audience = audience(of: [update], to: params.centrals)
    let policy = params.whenFull ?? .wait
    guard policy != .wait else { return send([update], to: audience, for: session) }
    var missed: [String] = []
    var accepted: [Receiver] = []
    for receiver in audience.receivers {
      let admission = receiver.link.values.offer(update, of: session, isNewest: policy == .newest)
      if admission != .accepted { missed.append(receiver.link.hub.peripheral.id) }
      if admission != .missed { accepted.append(receiver) }
    }
    return result(accepted, outOfSync: audience.outOfSync, missed: missed)
  }

  /// Like `notify`, for several values, sent in one packet to a device that supports it.
  func notify(_ params: ServerNotifyMultiple.Params, for session: Session) throws -> ServerNotify.Result {
    guard 1...Self.maximumValues ~= params.values.count,
      Set(params.values.map(\.handle)).count == params.values.count
    else {
      throw BledError.invalidParameter.error(
        "\"values\" must have 1 to \(Self.maximumValues) elements with distinct handles")
    }
    let updates = params.values.map { ServerUpdate(handle: $0.handle, value: $0.value.octets) }
    for update in updates { try check(update, by: session) }
    return send(updates, to: audience(of: updates, to: params.centrals), for: session)
  }

  private typealias Receiver = (link: ServerLink, updates: ServerUpdates)
  /// The subscribers of values, and the identifiers of the ones that must discover changed services first.
  private typealias Audience = (receivers: [Receiver], outOfSync: [String])

  private func audience(of updates: [ServerUpdate], to centrals: [String]?) -> Audience {
    let centrals = centrals.map { Set($0.map { OctetText($0) }) }
    var audience: Audience = ([], [])
    for link in serverLinks {
      let hub = link.hub
      let wanted = ServerUpdates(updates) { hub.subscription(of: $0) }
      guard !wanted.isEmpty, centrals?.contains(OctetText(hub.peripheral.id)) ?? true else { continue }
      if hub.isInSync {
        audience.receivers.append((link, wanted))
      } else {
        audience.outOfSync.append(hub.peripheral.id)
      }
    }
    return audience
  }

  /// Sends to all or none.
  private func send(
    _ updates: [ServerUpdate], to audience: Audience, for session: Session
  ) -> ServerNotify.Result {
    let full = audience.receivers.filter { link, updates in
      link.values.areWaiting(of: session)
        || (!link.values.hasRoom(for: updates) && !link.hub.room.hasShare(session))
    }
    guard full.isEmpty else {
      wait(session, for: full.map(\.link.hub.room))
      return .init(sent: false, receivers: 0)
    }
    for (link, updates) in audience.receivers { link.values.send(updates, of: session) }
    return result(audience.receivers, outOfSync: audience.outOfSync)
  }

  private func result(
    _ receivers: [Receiver], outOfSync: [String], missed: [String] = []
  ) -> ServerNotify.Result {
    let truncated = receivers.filter { $0.link.longestUpdate < $0.updates.longest }
    let indicated = receivers.filter(\.updates.isConfirmed)
    return .init(
      sent: true, receivers: receivers.count, outOfSync: outOfSync.nonEmpty,
      truncated: truncated.map(\.link.hub.peripheral.id).nonEmpty, missed: missed.nonEmpty,
      indicated: indicated.map(\.link.hub.peripheral.id).nonEmpty)
  }

  /// Refuses a value that a session cannot send to subscribers.
  private func check(_ update: ServerUpdate, by session: Session) throws {
    let characteristic = try characteristic(at: update.handle, of: session)
    guard !characteristic.properties.isDisjoint(with: [.notify, .indicate]) else {
      throw BledError.notAllowedByProperties.error(
        "characteristic \(update.handle.handleText) has neither \"notify\" nor \"indicate\"")
    }
    guard update.value.count <= Attribute.longestValue else {
      throw BledError.invalidParameter.error(
        "\"value\" has \(update.value.count) octets; the limit is \(Attribute.longestValue)")
    }
  }
}
