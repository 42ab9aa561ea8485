import ATT
import Bluetooth

/// A bonded client's state, stored by a server between connections (Core 5.4, Vol 3, Part G, 2.5.2 and 3.3.3.3).
public struct GATTClientState: Hashable, Sendable {
  /// A client's subscription to one value.
  public struct Subscription: Hashable, Sendable {
    /// The Client Characteristic Configuration value.
    public var configuration: ClientConfiguration
    /// Its service (`AttributeDatabase.identity`): another one may have the handles later.
    public var service: [UInt8]

    /// Makes a subscription.
    public init(_ configuration: ClientConfiguration, service: [UInt8]) {
      self.configuration = configuration
      self.service = service
    }
  }

  /// Its subscriptions, by value handle; also to services absent at the moment.
  public var subscriptions: [UInt16: Subscription]
  /// The value it wrote to Client Supported Features; empty if none.
  public var features: [UInt8]
  /// The known database hash, in wire order; nil if it knows none, or there is none.
  public var hash: [UInt8]?

  /// Makes a client's state.
  public init(subscriptions: [UInt16: Subscription] = [:], features: [UInt8] = [], hash: [UInt8]? = nil) {
    self.subscriptions = subscriptions
    self.features = features
    self.hash = hash
  }
}

extension GATTServer {
  /// The client's change-awareness (Part G, 2.5.2.1).
  enum Awareness {
    /// Change-aware, or without robust caching.
    case aware
    /// Change-unaware, without notice.
    case unaware
    /// The client was notified, or read the hash: its next request on that bearer confirms its knowledge.
    case informed
  }

  /// Bits of Client Supported Features (7.2).
  enum Feature: UInt8 {
    case robustCaching = 0x01
    case multipleNotifications = 0x04
  }

  func hasFeature(_ feature: Feature) -> Bool { (features.first ?? 0) & feature.rawValue != 0 }

  /// Answers a request by handle with Database Out Of Sync, once per bearer, if the client does not know the database.
  /// - Returns: false if the request was refused.
  mutating func isInSync(
    _ pdu: ATTPDU, _ handle: UInt16, _ bearer: inout BearerState, _ actions: inout [GATTAction]
  ) -> Bool {
    guard awareness != .aware, !isInformed(on: bearer) else {
      requestReceived(bearer, &actions)
      return true
    }
    setInformed(&bearer)
    bearer.respond(error: .databaseOutOfSync, to: pdu.opcode, at: handle, &actions)
    return false
  }

  /// Any request shows that the client has seen the error on the same bearer. On another one it may have been sent
  /// before.
  mutating func requestReceived(_ bearer: borrowing BearerState, _ actions: inout [GATTAction]) {
    if awareness == .informed, isInformed(on: bearer) { becomeAware(&actions) }
  }

  /// The client has read the database hash.
  mutating func hashRead(_ bearer: inout BearerState) {
    if awareness != .aware { setInformed(&bearer) }
  }

  /// True if the client was notified about the last change on this bearer.
  private func isInformed(on bearer: borrowing BearerState) -> Bool { bearer.transaction.informedOf == changes }

  private mutating func setInformed(_ bearer: inout BearerState) {
    awareness = .informed
    bearer.transaction.informedOf = changes
  }

  mutating func becomeUnaware() {
    awareness = .unaware
    changes += 1
  }

  mutating func becomeAware(_ actions: inout [GATTAction]) {
    awareness = .aware
    actions.append(.clientStateChanged)
  }

  /// The state to store for a bonded client.
  func clientState(_ database: inout AttributeDatabase) -> GATTClientState {
    let knowsDatabase = awareness == .aware && !isServiceChangePending
    var state = GATTClientState(
      subscriptions: dormant, features: features, hash: knowsDatabase ? database.hash() : knownHash)
    for (handle, configuration) in subscriptions {
      guard let service = database.identity(ofServiceWith: handle) else { continue }
      state.subscriptions[handle] = .init(configuration, service: service)
    }
    return state
  }

  /// Restores a bonded client's state, and notifies it if the database has changed since. Its configuration on this
  /// link stays.
  mutating func restore(
    _ state: GATTClientState, now: Instant, bearer: inout BearerState, database: inout AttributeDatabase,
    actions: inout [GATTAction]
  ) {
    let length = max(features.count, state.features.count)
    features = (0..<length).map { index in
      (index < features.count ? features[index] : 0) | (index < state.features.count ? state.features[index] : 0)
    }
    knownHash = state.hash
    dormant = state.subscriptions.filter { !configured.contains($0.key) }
    wakeSubscriptions(1...0xFFFF, database, &actions)
    guard let hash = database.hash(), state.hash != hash else { return }
    if hasFeature(.robustCaching) { becomeUnaware() }
    indicateServiceChanged(1...0xFFFF, now, &bearer, database, &actions)
  }

  /// Restores the client's subscriptions to returned services, unless the link is not secure enough for them.
  /// Subscriptions whose handles now belong to other attributes are forgotten.
  mutating func wakeSubscriptions(
    _ range: ClosedRange<UInt16>, _ database: AttributeDatabase, _ actions: inout [GATTAction]
  ) {
    guard !dormant.isEmpty else { return }
    for (handle, subscription) in dormant.sorted(by: { $0.key < $1.key }) where range.contains(handle) {
      guard let service = database.identity(ofServiceWith: handle) else { continue }
      guard service == subscription.service, let descriptor = database.configuration(ofValue: handle),
        !subscription.configuration.isEmpty,
        subscription.configuration.isSubset(of: descriptor.characteristic.possible)
      else {
        dormant[handle] = nil
        continue
      }
      guard refusal(.write, descriptor) == nil else { continue }
      dormant[handle] = nil
      subscriptions[handle] = subscription.configuration
      actions.append(.subscriptionChanged(handle: handle, subscription.configuration))
    }
  }
}

extension AttributeDatabase {
  /// The Client Characteristic Configuration for the value at this handle.
  fileprivate func configuration(ofValue handle: UInt16) -> Attribute? {
    guard let service = service(containing: handle) else { return nil }
    return handles(ofType: .clientCharacteristicConfiguration, in: service.range)
      .lazy.compactMap { attribute($0) }.first { $0.characteristic.valueHandle == handle }
  }
}
