import BledRPC
import Bluetooth

/// The resources of sessions: each broker has a kind of them.
struct Holdings {
  let scans: ScanBroker
  let periodic: PeriodicBroker
  let central: CentralBroker
  let server: ServerBroker
  let advertising: AdvertisingBroker
  let pairing: PairingBroker
  let channels: ChannelBroker
  let captures: CaptureBroker

  /// The session's present resources that outlast its program.
  func state(of session: Session, since: Double) -> RestoredState {
    RestoredState(
      since: since, scan: scans.request(of: session), scans: scans.numberedRequests(of: session),
      peripherals: central.restorableConnections(of: session),
      services: server.published(by: session), advertisements: advertising.restorableAdvertisements(of: session))
  }

  /// Adds a session's resources to its description.
  func describe(_ session: Session, in description: inout SessionDescription) {
    description.scan = scans.request(of: session)?.withoutKeys
    description.scans = scans.numberedRequests(of: session)?.map(\.withoutKeys)
    central.describe(session, in: &description)
    description.services = server.services(of: session)
    description.advertisements = advertising.advertisements(of: session)
    channels.describe(session, in: &description)
  }

  /// Restores a session's resources, preserved by a previous daemon.
  /// - Parameter failed: called with the reason for each one not restored.
  func restore(_ state: RestoredState, for session: Session, _ failed: (any Error) -> Void) {
    func attempt(_ body: () throws -> Void) {
      do { try body() } catch { failed(error) }
    }
    server.restore(state.services, for: session)
    for peripheral in state.peripherals { attempt { try central.restore(peripheral, for: session) } }
    for scan in [state.scan].compactMap({ $0 }) + (state.scans ?? []) {
      attempt { try scans.start(scan, for: session, isRevived: true) }
    }
    for advertisement in state.advertisements { attempt { try advertising.restore(advertisement, for: session) } }
  }

  /// The session's program has disconnected, and nothing can be sent to it: everything that depends on the program
  /// ends.
  func programGone(_ session: Session) {
    periodic.ended(session)
    central.programGone(session)
    server.programGone(session)
    pairing.programChanged(session)
  }

  /// A program has resumed a session.
  func programReturned(_ session: Session) {
    server.programReturned(session)
    pairing.programChanged(session)
  }

  /// A session runs in the background from now on, or no longer.
  func backgroundChanged(_ session: Session) {
    scans.backgroundChanged(session)
    central.searches.update()
    advertising.backgroundChanged(session)
  }

  /// Releases the resources that need these permissions.
  /// - Returns: true if preserved resources are among them.
  func release(_ session: Session, without lacking: Set<Permission>) -> Bool {
    if lacking.contains(.pair) { pairing.ended(session) }
    guard !lacking.isDisjoint(with: [.scan, .connect, .serve, .advertise]) else { return false }
    if lacking.contains(.connect) || lacking.contains(.serve) { channels.ended(session) }
    if lacking.contains(.scan) { scans.ended(session) }
    if lacking.contains(.connect) { central.ended(session) }
    if lacking.contains(.serve) { try? server.remove(nil, for: session) }
    if lacking.contains(.advertise) { advertising.ended(session) }
    return true
  }

  /// Releases everything: the session has ended.
  func release(_ session: Session) {
    scans.ended(session)
    periodic.ended(session)
    central.ended(session)
    channels.ended(session)
    captures.ended(session)
    advertising.ended(session)
    server.ended(session)
    pairing.ended(session)
  }
}
