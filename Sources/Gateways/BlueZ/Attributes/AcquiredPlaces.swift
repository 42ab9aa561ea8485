/// The programs that have the values of characteristics by a socket: one of each user for a direction. So the programs
/// of one user do not exclude another user's from a characteristic.
final class AcquiredPlaces {
  private struct Place: Hashable {
    let path: String
    let direction: AcquiredDirection
    let user: UInt32
  }

  private struct Owner {
    /// Its unique name.
    let name: String
    /// True if it has the socket already.
    var isOpen = false
  }

  private let context: Context
  private var owners: [Place: Owner] = [:]

  init(_ context: Context) { self.context = context }

  /// True if a program of the same user has the socket.
  func isTaken(_ path: String, _ direction: AcquiredDirection, for client: BusClient) -> Bool {
    owners[Place(path: path, direction: direction, user: client.credentials.user)]?.isOpen == true
  }

  /// Claims the place for a program before it gets the socket.
  /// - Returns: false if another program of its user has it.
  func claim(_ path: String, _ direction: AcquiredDirection, for client: BusClient) -> Bool {
    let place = Place(path: path, direction: direction, user: client.credentials.user)
    guard owners[place] == nil else { return false }
    owners[place] = Owner(name: client.name)
    return true
  }

  /// A program has the socket.
  /// - Returns: false if its place was removed meanwhile.
  func open(_ path: String, _ direction: AcquiredDirection, for client: BusClient) -> Bool {
    let place = Place(path: path, direction: direction, user: client.credentials.user)
    guard owners[place]?.name == client.name else { return false }
    owners[place]?.isOpen = true
    show(path, direction)
    return true
  }

  func release(_ path: String, _ direction: AcquiredDirection, of client: BusClient) {
    release { $0.path == path && $0.direction == direction && $1 == client.name }
  }

  /// The link of a device has ended.
  func disconnected(_ device: String) { release { place, _ in place.path.utf8.starts(with: (device + "/").utf8) } }

  /// A program has left the bus.
  func left(_ client: BusClient) { release { $1 == client.name } }

  private func release(where isMeant: (Place, String) -> Bool) {
    for (place, owner) in owners where isMeant(place, owner.name) {
      owners[place] = nil
      show(place.path, place.direction)
    }
  }

  private func show(_ path: String, _ direction: AcquiredDirection) {
    let isTaken = owners.contains { $0.key.path == path && $0.key.direction == direction && $0.value.isOpen }
    context.tree.set(path, .characteristic, direction.property, .boolean(isTaken))
  }
}
