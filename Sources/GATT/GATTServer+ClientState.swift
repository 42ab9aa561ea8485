import ATT
import Bluetooth

/// What a server stores of a bonded client between connections (Core 5.4, Vol 3, Part G, 2.5.2 and 3.3.3.3).
public struct GATTClientState: Hashable, Sendable {
  /// Its subscriptions, by the handle of the value.
  public var subscriptions: [UInt16: ClientConfiguration]
  /// What it wrote to Client Supported Features; empty if nothing.
  public var features: [UInt8]
  /// The hash of the database that it knows, in wire order; nil where there is none.
  public var hash: [UInt8]?

  /// Makes the state of a client.
  public init(subscriptions: [UInt16: ClientConfiguration] = [:], features: [UInt8] = [], hash: [UInt8]? = nil) {
    self.subscriptions = subscriptions
    self.features = features
    self.hash = hash
  }
}

extension GATTServer {
  /// Whether the client is change-aware (Part G, 2.5.2.1).
  enum Awareness {
    /// Change-aware, or without robust caching.
    case aware
    /// Change-unaware, and not told.
    case unaware
    /// It was told, or read the hash: its next request shows that it knows.
    case informed
  }

  /// Bits of Client Supported Features (7.2).
  enum Feature: UInt8 {
    case robustCaching = 0x01
    case multipleNotifications = 0x04
  }

  func hasFeature(_ feature: Feature) -> Bool { (features.first ?? 0) & feature.rawValue != 0 }

  /// Answers a request that uses a handle with Database Out Of Sync, once, if the client does not know the database.
  /// - Returns: false if the request was refused.
  mutating func isInSync(
    _ pdu: ATTPDU, _ handle: UInt16, _ bearer: inout Bearer, _ actions: inout [GATTAction]
  ) -> Bool {
    guard awareness == .unaware else {
      noteRequest(&actions)
      return true
    }
    awareness = .informed
    respond(error: .databaseOutOfSync, to: pdu.opcode, at: handle, &bearer, &actions)
    return false
  }

  /// Any request shows that the client has seen what it was told.
  mutating func noteRequest(_ actions: inout [GATTAction]) {
    if awareness == .informed { becomeAware(&actions) }
  }

  /// The client has read the hash of the database.
  mutating func noteHashRead() {
    if awareness == .unaware { awareness = .informed }
  }

  mutating func becomeAware(_ actions: inout [GATTAction]) {
    awareness = .aware
    actions.append(.clientStateChanged)
  }

  /// The state to store of a bonded client.
  func clientState(_ database: inout AttributeDatabase) -> GATTClientState {
    let knowsDatabase = awareness == .aware && !isServiceChangePending
    return GATTClientState(
      subscriptions: subscriptions, features: features, hash: knowsDatabase ? database.hash() : knownHash)
  }

  /// Restores the state of a bonded client, and tells it if the database has changed since.
  mutating func restore(
    _ state: GATTClientState, now: Instant, bearer: inout Bearer, database: inout AttributeDatabase,
    actions: inout [GATTAction]
  ) {
    features = state.features
    knownHash = state.hash
    for (handle, configuration) in state.subscriptions.sorted(by: { $0.key < $1.key }) {
      let possible = database.attribute(handle)?.characteristic.possible ?? []
      guard !configuration.isEmpty, configuration.isSubset(of: possible) else { continue }
      subscriptions[handle] = configuration
      actions.append(.subscriptionChanged(handle: handle, configuration))
    }
    guard let known = state.hash, let hash = database.hash(), known != hash else { return }
    if hasFeature(.robustCaching) { awareness = .unaware }
    indicateServiceChanged(1...0xFFFF, now, &bearer, database, &actions)
  }
}
