import BledClient
import FrameworkSupport
import NearbySessions

/// The work behind an advertiser.
final class AdvertiserEngine: @unchecked Sendable {
  /// The news for the program, on the advertiser's queue.
  enum Event {
    /// A peer invites; the answer to it.
    case invited(PeerIdentity, Data?, (Bool, SessionEngine?) -> Void)
    case failed(NSError)
  }

  private struct State {
    var isStarted = false
    /// True if it has worked since it was started.
    var hasWorked = false
  }

  private let local: LocalNode
  private let information: [String: String]
  private let state = Guarded(State())
  private let delivery = Delivery(to: DispatchQueue(label: "MCNearbyServiceAdvertiser"))
  private let onEvent: (Event) -> Void

  init(_ local: LocalNode, _ information: [String: String], onEvent: @escaping (Event) -> Void) {
    (self.local, self.information, self.onEvent) = (local, information, onEvent)
  }

  func start() {
    let isNew = state.with { state in
      defer { state = State(isStarted: true, hasWorked: state.isStarted && state.hasWorked) }
      return !state.isStarted
    }
    if isNew { local.advertise(self, information) }
  }

  func stop() {
    let wasStarted = state.with { state in
      defer { state = State() }
      return state.isStarted
    }
    if wasStarted { local.stopAdvertising(self) }
  }

  func started() { state[\.hasWorked] = true }

  /// - Returns: true if the program was notified, as advertising has not begun.
  func failed(_ error: BluetoothError) -> Bool {
    let isToBeTold = state.with { state in
      guard state.isStarted, !state.hasWorked else { return false }
      state.isStarted = false
      return true
    }
    if isToBeTold { report(.failed(.multipeer(error))) }
    return isToBeTold
  }

  /// A peer invites this one. The invitation ends as declined when its last reference is released.
  func invited(_ invitation: NearbyInvitation, _ peer: PeerIdentity, _ context: Data?, at local: LocalNode) {
    let answer = Guarded<NearbyInvitation?>(invitation)
    let own = local.key.peer.identifier
    report(
      .invited(peer, context) { accepts, session in
        let invitation = answer.with { answer in
          defer { answer = nil }
          return answer
        }
        guard let invitation else { return Misuse.log("an invitation is answered once") }
        guard accepts else { return Self.decline(invitation) }
        guard let session else {
          Misuse.log("an invitation is accepted for a session: nil declines it")
          return Self.decline(invitation)
        }
        guard session.own.identifier == own else {
          Misuse.log("an invitation is accepted for a session of the invited peer: one of another peer declines it")
          return Self.decline(invitation)
        }
        session.join(invitation, from: peer, at: local, isAsked: true)
      })
  }

  private static func decline(_ invitation: NearbyInvitation) { Task { await invitation.answer(false) } }

  private func report(_ event: Event) {
    let event = Carried(event)
    delivery { [self] in
      guard state[\.isStarted] || event.value.isFailure else { return }
      onEvent(event.value)
    }
  }
}

extension AdvertiserEngine.Event {
  fileprivate var isFailure: Bool { if case .failed = self { true } else { false } }
}

/// A program's errors that cannot be reported otherwise.
enum Misuse {
  private static let program = ProgramLog("MultipeerConnectivity")

  /// A call that has no effect.
  static func log(_ message: String) { program.misuse(message) }
}
