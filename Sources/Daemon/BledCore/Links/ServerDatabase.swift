import BledRPC
import Bluetooth
import BluetoothCrypto
import GATT

/// The attribute database served on all links: the services of the daemon and of the sessions. Their places are stored,
/// so devices find them there again after a restart.
final class ServerDatabase {
  var attributes: AttributeDatabase
  private var document: StoredDocument<PlaceRecords>?

  init(store: Store) {
    attributes = AttributeDatabase()
    let document = store.document("services", version: 1) { [unowned self] in
      PlaceRecords(services: attributes.places.map { PlaceRecord($0) })
    }
    self.document = document
    let places = (document.load()?.services ?? []).compactMap(\.place)
    attributes = AttributeDatabase(places: places) { message in DatabaseHash.code(of: message) }
  }

  /// The attributes as one audience sees them.
  subscript(audience: Audience) -> AttributeDatabase {
    _read {
      attributes.viewer = audience
      defer { attributes.viewer = nil }
      yield attributes
    }
    _modify {
      attributes.viewer = audience
      defer { attributes.viewer = nil }
      yield &attributes
    }
  }

  /// Adds a session's service.
  /// - Parameters:
  ///   - audience: its audience; nil for all.
  ///   - handle: its earlier place; nil leaves it to the database.
  func add(
    _ definition: ServiceDefinition, for session: Session, audience: Audience?, at handle: UInt16?
  ) throws(DatabaseError) -> RegisteredService {
    let before = attributes.formerPlaces
    // Other users' programs must not take over this one's subscribers.
    let service = try attributes.add(
      definition, owner: session.owner, publisher: session.user, audience: audience, at: handle)
    // A service back in its place is on disk already.
    if !before.all.contains(where: { $0.range == service.range && $0.publisher == session.user }) {
      document?.changed(isUrgent: false)
    }
    return service
  }
}

/// The document `services` of the store: the present and former places of services, the last used last.
struct PlaceRecords: Codable, Hashable, Sendable {
  var services: [PlaceRecord] = []
}

/// The place of a service, present or former.
struct PlaceRecord: Codable, Hashable, Sendable {
  /// Absent for the daemon's own.
  let user: UInt32?
  let tree: HexBytes
  let first: UInt16
  let last: UInt16

  init(_ place: ServicePlaces.Place) {
    user = place.publisher
    tree = HexBytes(place.tree)
    first = place.range.lowerBound
    last = place.range.upperBound
  }

  /// The place; nil if the record is none.
  var place: ServicePlaces.Place? {
    guard first > 0, first <= last else { return nil }
    return .init(publisher: user, tree: tree.octets, range: first...last)
  }
}
