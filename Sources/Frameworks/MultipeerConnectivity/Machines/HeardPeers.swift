import NearbySessions

/// The discovered peers, each perhaps as several devices: an identifier is easily copied, so the first device still
/// present represents its peer, and the others do not count.
struct HeardPeers: Sendable {
  /// By identifier, in order of discovery.
  private var devices: [UInt64: [FoundPeer]] = [:]

  /// A peer, if present.
  subscript(identifier: UInt64) -> FoundPeer? { devices[identifier]?.first }

  /// The present peers.
  var all: [FoundPeer] { devices.values.compactMap(\.first) }

  /// - Returns: the change for the program, if there is one.
  mutating func change(_ change: NearbyChange) -> NearbyChange? {
    switch change {
    case .found(let peer):
      let known = devices[peer.identifier] ?? []
      let index = known.firstIndex { $0.peripheral == peer.peripheral } ?? known.count
      devices[peer.identifier] = known[..<index] + [peer] + known[index...].dropFirst()
      return index == 0 ? change : nil
    case .lost(let peer):
      guard let index = devices[peer.identifier]?.firstIndex(where: { $0.peripheral == peer.peripheral }) else {
        return nil
      }
      devices[peer.identifier]?.remove(at: index)
      guard let next = devices[peer.identifier]?.first else {
        devices[peer.identifier] = nil
        return change
      }
      return index == 0 ? .found(next) : nil
    }
  }
}
