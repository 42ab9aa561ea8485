import BledRPC

extension DeviceLink {
  /// Has what a session discovers remembered, if it is one that is kept when its program goes away.
  func remember<Found>(
    _ reply: Reply<Found>, of session: Session, _ add: @escaping (inout DiscoveredTree, Found) -> Void
  ) {
    guard session.restoration != nil else { return }
    reply.succeeding = { [weak self] found in
      guard let self else { return }
      add(&discovered[session.id, default: DiscoveredTree()], found)
    }
  }
}
