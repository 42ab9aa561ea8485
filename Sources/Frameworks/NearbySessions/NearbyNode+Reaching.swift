import BledClient

/// Peers that know each other's identifiers by other means, such as members of one group.
extension NearbyNode {
  /// Accepts invitations of peers that know this one's identifier, also while it is not advertised as one that accepts
  /// invitations. They arrive in `invitations`, too.
  /// - Throws: as `advertise`.
  public func becomeReachable() async throws(BluetoothError) {
    try await accept { change in change(&self.reachability) }
  }

  /// Ends that; in a task that is cancelled without waiting for it.
  public func becomeUnreachable() async {
    reachability = Acceptance()
    await updateAdvertising()
  }

  /// Waits until a peer is heard, whether it accepts the invitations of all or not, or the task is cancelled.
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
