import BledClient

/// A session within its node: the machine, the present link, and the program's events and waits. A class: reading one
/// part does not copy all.
final class PeerState {
  var session: PeerSession
  let remote: FoundPeer
  let key: [UInt8]
  let code: String
  weak var connection: NearbyConnection?
  /// For an acceptor, the number and key of the awaited bulk channel.
  var ticket: (number: UInt64, key: [UInt8])?
  /// The dialer's connection to the device.
  var link: Peripheral?
  /// The device whose link the session uses, of either role.
  var device: String?
  var sockets: [Frame.Lane: BlockingSocket] = [:]
  var isWriting: Set<Frame.Lane> = []
  var timer: Task<Void, Never>?
  /// True while the lost link is being dialled: two links for one session would contradict each other.
  var isRedialing = false
  /// True if the session has ended here, and the other side has yet to close the channels.
  var isLingering = false

  /// The events not fetched yet.
  var events = EventQueue()
  /// The end, once reported.
  var end: NearbyEnd?
  var hasEnded: Bool { end != nil }
  /// True if this side has begun it, and it has not ended.
  var isOurs: Bool { session.isDialer && !hasEnded }
  /// The wait for the answer to an invitation.
  var answerWaiter: CheckedContinuation<NearbyEnd?, Never>?
  var flows = SessionFlows()
  /// True if messages, or octets of a stream or resource, were sent or received.
  var hasTransferred = false

  init(session: PeerSession, remote: FoundPeer, key: [UInt8], code: String) {
    (self.session, self.remote, self.key, self.code) = (session, remote, key, code)
  }

  /// True if the program has to fetch something before more is read from a channel.
  func mustWait(_ lane: Frame.Lane) -> Bool {
    guard !hasEnded, sockets[lane] != nil else { return false }
    if events.isFull(lane) { return true }
    // An ended flow has no window, but its octets still need room.
    return lane == .bulk && flows.endedUnread >= EventQueue.flowLimit
  }
}
