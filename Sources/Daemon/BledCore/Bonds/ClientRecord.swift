import Adapter
import BledRPC
import Bluetooth
import GATT

/// The document `clients` of the store: the settings of bonded devices at our server.
struct ClientRecords: Codable, Hashable, Sendable {
  var clients: [ClientRecord] = []
}

/// A bonded device in the store.
struct ClientRecord: Codable, Hashable, Sendable {
  /// Maximum stored subscriptions: no program publishes so many, and all clients together must fit into a file.
  static let maximumSubscriptions = 256

  struct Subscription: Codable, Hashable, Sendable {
    let handle: UInt16
    let configuration: UInt16
    let service: HexBytes
  }
  struct State: Codable, Hashable, Sendable {
    let subscriptions: [Subscription]
    let features: HexBytes
    let hash: HexBytes?

    init(_ state: GATTClientState) {
      subscriptions = state.subscriptions.sorted { $0.key < $1.key }.prefix(maximumSubscriptions).map {
        Subscription(
          handle: $0.key, configuration: $0.value.configuration.rawValue, service: HexBytes($0.value.service))
      }
      features = HexBytes(state.features)
      hash = state.hash.map { HexBytes($0) }
    }
  }

  let local: String
  let localType: String
  let peer: String
  let peerType: String
  /// The keys to which the rest belongs; absent in records of versions without it.
  var keys: KeyMarks?
  /// Absent before the device was connected with this bond.
  var server: State?
  /// The counter of the device's last signed write.
  var signCounter: UInt32?
  /// Our client's features as sent to the device's server.
  var toldFeatures: HexBytes?
  /// True if the device reports changed services, as our subscription to Service Changed belongs to the bond.
  var tellsChanges: Bool?
  /// We may have signed with every counter below this one.
  var ownCounters: UInt32?

  init(_ bond: Bond) {
    local = "\(bond.local)"
    localType = "\(bond.local.kind)"
    peer = "\(bond.peer)"
    peerType = "\(bond.peer.kind)"
    keys = KeyMarks(bond)
  }

  /// Removes state that belongs to keys other than the bond's.
  mutating func removeState(notOf marks: KeyMarks) {
    if let keys {
      if keys.encryption != marks.encryption { (server, toldFeatures, tellsChanges) = (nil, nil, nil) }
      if keys.theirs != marks.theirs { signCounter = nil }
      if keys.ours != marks.ours { ownCounters = nil }
    }
    keys = marks
  }

  /// True if the record contains only its owner.
  var isEmpty: Bool {
    server == nil && toldFeatures == nil && tellsChanges == nil && signCounter == nil && ownCounters == nil
  }

  /// Its owner, without keys; nil if the record is of none.
  var bond: Bond? {
    guard let local = BondRecord.address(local, localType), let peer = BondRecord.address(peer, peerType) else {
      return nil
    }
    return Bond(local: local, peer: peer)
  }

  /// The settings of the device.
  var state: GATTClientState? {
    server.map { server in
      var state = GATTClientState(features: Array(server.features.octets.prefix(8)), hash: server.hash?.octets)
      for subscription in server.subscriptions.prefix(Self.maximumSubscriptions) {
        state.subscriptions[subscription.handle] = .init(
          ClientConfiguration(rawValue: subscription.configuration), service: subscription.service.octets)
      }
      return state
    }
  }
}
