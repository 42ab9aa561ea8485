import BledClient

/// Invitations from others.
extension NearbyNode {
  /// Begins to accept invitations, and to advertise that.
  /// - Parameter information: texts other than in the settings.
  /// - Throws: as `BledClient.publishL2CAPChannel`, `publish` and `advertise`; `BledError.invalidParameter` for
  ///   oversized information; `GAPError.cancelled` if the task was cancelled: then this call alone is undone.
  public func advertise(_ information: [String: String]? = nil) async throws(BluetoothError) {
    if let information { try Self.check(information) }
    try await advertiser.accept(from: .everyone, information)
  }

  /// Stops accepting invitations; in a cancelled task without waiting for it. Sessions stay, and their lost links are
  /// still found again.
  public func stopAdvertising() async { await advertiser.refuse(.everyone) }

  /// Accepts invitations from peers that know this one's identifier, also while it does not advertise that it accepts
  /// invitations. They arrive in `invitations`, too.
  /// - Throws: as `advertise`.
  public func becomeReachable() async throws(BluetoothError) { try await advertiser.accept(from: .acquaintances) }

  /// Ends that; in a cancelled task without waiting for it.
  public func becomeUnreachable() async { await advertiser.refuse(.acquaintances) }
}
