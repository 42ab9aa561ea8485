import BledClient

/// One session within its node: the machine, the present link, and the events and waits of the program.
struct PeerState {
  /// The unread octets of messages above which no more are read from the other side.
  static let unreadLimit = 1 << 20

  var session: PeerSession
  let remote: FoundPeer
  let key: [UInt8]
  let code: String
  weak var connection: NearbyConnection?
  /// The number and key of the bulk channel that is awaited, of an acceptor.
  var ticket: (number: UInt64, key: [UInt8])?
  /// The dialer's connection to the device.
  var link: Peripheral?
  var sockets: [Frame.Lane: ChannelSocket] = [:]
  var isWriting: Set<Frame.Lane> = []
  var timer: Task<Void, Never>?
  /// Whether the lost link is being dialled: two links for one session would contradict each other.
  var isRedialing = false
  /// Whether the session has ended here, and the other side has yet to close the channels.
  var isLingering = false

  /// The events that were not fetched, and their octets.
  var events: [NearbyEvent] = []
  var unread = 0
  var eventWaiter: CheckedContinuation<NearbyEvent?, Never>?
  /// The end, once it was told.
  var end: NearbyEnd?
  var hasEnded: Bool { end != nil }
  /// The reader of the control channel, while too much is unread.
  var pausedReader: CheckedContinuation<Void, Never>?
  /// The wait for the answer to an invitation.
  var answerWaiter: CheckedContinuation<NearbyEnd?, Never>?
  var flows: [UInt32: FlowState] = [:]
}

/// One stream or resource within its session.
struct FlowState {
  /// The octets that were not read.
  var unread: [[UInt8]] = []
  var offset: UInt64?
  var end: FlowEnd?
  /// The waits of the program, each of which is checked again when something has happened to the flow.
  var waiters: [CheckedContinuation<Void, Never>] = []
}
