import BledClient

/// Peers that know each other's identifiers by other means, such as a group's members.
extension NearbyNode {
  /// Accepts invitations from peers that know this one's identifier, also while it does not advertise that it accepts
  /// invitations. They arrive in `invitations`, too.
  /// - Throws: as `advertise`.
  public func becomeReachable() async throws(BluetoothError) {
    try await accept { change in change(&self.reachability) }
  }

  /// Ends that; in a cancelled task without waiting for it.
  public func becomeUnreachable() async {
    reachability = Acceptance()
    await updateAdvertising()
  }

  /// Waits until a peer is discovered, even if it does not accept invitations from all, or the task is cancelled.
  /// - Returns: the peer, without name and information.
  /// - Throws: as `BledClient.scan`; `GAPError.timeout` if the task was cancelled.
  public func find(_ identifier: UInt64) async throws(BluetoothError) -> FoundPeer {
    let uuid = settings.type.uuid
    let reports = try await client.scan(.init(adapter: settings.adapter, services: [uuid], scan: newScan()))
    do {
      for try await report in reports {
        guard let data = report.serviceData?["\(uuid)"],
          PeerDescription.Mark(serviceData: data.octets)?.identifier == identifier
        else { continue }
        return FoundPeer(identifier: identifier, name: "", information: [:], peripheral: report.peripheral)
      }
    } catch let error as BluetoothError {
      throw error
    } catch {}
    throw GAPError.timeout.error("the peer was not heard")
  }
}
