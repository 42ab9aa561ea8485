import BledRPC
import Bluetooth
import FoundationEssentials
import Logging

/// A program's use of the daemon: its identity and queued lines. The brokers keep a session's resources (scans, links,
/// services, advertisements), and are notified of its end.
///
/// A session lives as long as its program's connection, or with a restoration identifier until it was preserved for the
/// agreed time without one; see `Restorations`.
public final class Session {
  /// Maximum octets of a name.
  static let longestName = 64
  /// Maximum descriptors not read yet by a user's sessions.
  static let maximumDescriptors = 64

  /// Unique since the daemon's start.
  public let id: Int
  /// The program's name for itself; empty until `session.open`.
  public private(set) var name = ""
  /// The credentials of its program, or of its last one, if the transport knows them.
  public internal(set) var credentials: PeerCredentials?
  /// When it was opened, in seconds since the epoch.
  let since: Double
  /// False once the session has released its resources.
  public private(set) var isOpen = true
  /// True if its program declared that it runs in the background.
  var asksForBackground = false
  /// Its use of resources.
  var costs = SessionCosts()
  /// Detects polling of values that have notifications.
  var polling = PollingWatch()

  /// Its program's connection; nil while disconnected.
  var connection: SessionConnection?
  /// The key under which it is preserved; nil: not preserved.
  var restoration: RestorationKey?
  /// Our pending calls. Their numbers are unique across the session's connections.
  var calls = OutgoingCalls()
  private(set) var outbox: Outbox {
    didSet { countWaiting() }
  }
  /// The policy and the limits.
  let rules: Rules
  /// The counts for all sessions of the user.
  let account: Rules.UserAccount
  private var accounted = 0
  /// True if it is about to be closed for not reading.
  private(set) var hasOverflowed = false
  private let logger: Logger
  private let onOverflow: (Session) -> Void
  /// The calls for the time when the outbox has room for more.
  private var reliefs: [() -> Void] = []
  /// Dropped packets by device identifier, until there is room to report them.
  var untoldLosses: [String: Int] = [:]
  /// Its sockets for characteristics' values.
  var acquisitions = 0
  /// The number of times a link was slowed down because this session, its only reader, fell behind.
  var slowedLinks = 0
  /// Called when its resources may have changed, if they are to be kept: with true if its program changed it, with
  /// false if a device did.
  var onChange: ((_ isOwn: Bool) -> Void)?
  /// Called once, at an event of interest to a disconnected program.
  private var wake: (() -> Void)?

  init(
    id: Int, credentials: PeerCredentials?, since: Double, rules: Rules, logger: Logger,
    onOverflow: @escaping (Session) -> Void
  ) {
    self.id = id
    self.credentials = credentials
    self.since = since
    self.rules = rules
    account = rules.account(of: credentials?.user)
    outbox = Outbox(limits: rules.outboxLimits)
    self.logger = logger
    self.onOverflow = onOverflow
  }

  deinit { account.octets -= accounted }

  /// Its program's user.
  var user: UInt32? { credentials?.user }

  var isPresent: Bool { connection != nil }
  /// True if its requests are background requests: a disconnected program counts as in the background.
  var isBackground: Bool { asksForBackground || !isPresent }

  /// Reports without room since its program disconnected.
  var droppedReports: Int { outbox.droppedReports - droppedBefore.reports }
  /// Values without room since its program disconnected.
  var droppedValues: Int { outbox.refusedValues - droppedBefore.values }
  private var droppedBefore = (reports: 0, values: 0)

  /// Sets the program's own name, in printable form: no control characters, at most 64 octets.
  func rename(_ text: String) {
    let scalars = text.unicodeScalars.lazy.filter { $0.value >= 0x20 && !(0x7F...0x9F).contains($0.value) }
    var shown = String.UnicodeScalarView()
    var octets = 0
    for scalar in scalars {
      octets += UTF8.width(scalar)
      guard octets <= Self.longestName else { break }
      shown.append(scalar)
    }
    name = String(shown)
  }

  // MARK: Sending

  /// Sends an event to be delivered in any case.
  func send<Notification: RPCNotification>(_ notification: Notification.Type, _ params: Notification.Params) {
    if Notification.message.changesSession, let onChange { onChange(false) }
    send(encoded { try RPCEncoding.notification(notification, params) }, as: .event)
  }

  /// Calls the client, which must be present.
  func call<Method: DaemonCall>(
    _ method: Method.Type, _ params: Method.Params,
    _ completion: @escaping (Result<Method.Result, RPCError>) -> Void
  ) -> OutgoingCalls.Number {
    let number = calls.begin(completion)
    send(encoded { try RPCEncoding.request(method, id: .number(number), params) }, as: .answer)
    return number
  }

  /// Calls the client if there is room for a value, and ignores its answer.
  func callWithoutAnswer<Method: DaemonCall>(_ method: Method.Type, _ params: Method.Params) -> Outbox.Admission {
    let number = calls.beginUnanswered()
    return send(encoded { try RPCEncoding.request(method, id: .number(number), params) }, as: .value)
  }

  /// Sends an event with a descriptor, see `admitDescriptor`. Without a program the descriptor is closed, and there is
  /// no event.
  func send<Notification: RPCNotification>(
    _ notification: Notification.Type, _ params: Notification.Params, with descriptor: PassedDescriptor
  ) {
    guard isPresent else { return }
    send(encoded { try RPCEncoding.notification(notification, params) }, as: .event, with: descriptor)
  }

  /// Checks whether a descriptor can be passed to the program now.
  /// - Throws: `BledError.limitReached`.
  func admitDescriptor() throws(BluetoothError) {
    try DescriptorReserve.admit(self)
    guard outbox.hasRoomForDescriptor else {
      throw BledError.limitReached.error(
        "\(Outbox.maximumDescriptors) descriptors wait until this session reads them; read its socket first")
    }
    guard account.descriptors < Self.maximumDescriptors else {
      throw BledError.limitReached.error(
        "\(Self.maximumDescriptors) descriptors wait until sessions of this user read them; read their sockets first")
    }
  }

  /// Sends a line, possibly shared with other sessions.
  /// - Parameter descriptor: the descriptor passed with it.
  @discardableResult
  func send(_ line: Data?, as kind: Outbox.Kind, with descriptor: PassedDescriptor? = nil) -> Outbox.Admission {
    guard isOpen, !hasOverflowed, let line else { return .queued }
    let wasEmpty = outbox.isEmpty
    descriptor?.charge(account)
    let admission = outbox.append(line, as: kind, with: descriptor, spare: room)
    if admission == .queued { costs.queued(kind) }
    if admission == .overflow {
      // That fails its pending calls, whose answers would overflow again.
      hasOverflowed = true
      logger.warning(
        "the outbox of session \(id) \(name) is full; the session is closed", metadata: .about(session: self))
      onOverflow(self)
    }
    connection?.linesWait(wereNone: wasEmpty && admission != .overflow, isReport: kind.isReport)
    if admission == .queued { wakeProgram() }
    return admission
  }

  /// The limits in force have changed.
  func limitsChanged() {
    if isPresent { outbox.limits = rules.outboxLimits }
  }

  /// An event of interest to a disconnected program has happened.
  func wakeProgram() {
    guard let wake else { return }
    self.wake = nil
    wake()
  }

  /// The next lines to write, which fit into this many octets unless it is a single line.
  func removeLines(upTo octets: Int) -> Outbox.Batch {
    guard !outbox.isEmpty || !reliefs.isEmpty else { return Outbox.Batch() }
    let batch = outbox.remove(upTo: octets)
    if !reliefs.isEmpty, outbox.isRelieved {
      let work = reliefs
      reliefs = []
      for relief in work { relief() }
    }
    return batch
  }

  /// Calls this once when the outbox has room for more.
  func whenRelieved(_ work: @escaping () -> Void) { reliefs.append(work) }

  /// Octets that may still be queued for all sessions of the user.
  var room: Int { rules.room(for: account) }

  /// Adds to the octets queued on behalf of the session, or subtracts from them.
  func charge(_ octets: Int) { account.octets += octets }

  /// Accounts for the octets queued for all sessions of the user.
  private func countWaiting() {
    let waiting = outbox.waiting
    guard waiting != accounted else { return }
    account.octets += waiting - accounted
    accounted = waiting
  }

  func encoded(_ encode: () throws -> Data) -> Data? {
    do {
      return try encode()
    } catch {
      logger.error("session \(id): a message could not be written as JSON: \(error)", metadata: .about(session: self))
      return nil
    }
  }

  // MARK: Connecting and disconnecting

  /// The program has disconnected, and the session is preserved.
  /// - Parameter wake: called once, at an event of interest to the program.
  func lose(wake: @escaping () -> Void) {
    connection?.abandon()
    connection = nil
    calls.drop()
    outbox.dropAnswers()
    // Lines left unread by a slow reader stay, and do not count against the following ones.
    var limits = Outbox.Limits.preserved
    limits.everything += outbox.waiting
    outbox.limits = limits
    droppedBefore = (outbox.droppedReports, outbox.refusedValues)
    self.wake = wake
  }

  /// The program is back, on another connection. Kept lines are written when the first answer has been given.
  func resume(on connection: SessionConnection) {
    self.connection = connection
    credentials = connection.credentials
    outbox.limits = rules.outboxLimits
    wake = nil
  }

  /// Sends an answer before all kept lines.
  func sendFirst(_ line: Data?) {
    guard isOpen, let line else { return }
    outbox.prepend(line)
    connection?.linesWait(wereNone: true)
  }

  /// Another session has taken over its connection, while this one held nothing.
  func retire() {
    isOpen = false
    connection = nil
  }

  /// Ends the connection, if there is one, after all calls were answered with this error.
  func end(_ error: BluetoothError) {
    guard isOpen else { return }
    connection?.end(error)
    calls.drop()
    outbox.closeDescriptors()
    isOpen = false
    connection = nil
    wake = nil
  }
}

extension Session: Hashable {
  /// Sessions are equal if they are the same.
  public static func == (left: Session, right: Session) -> Bool { left === right }
  /// By number.
  public func hash(into hasher: inout Hasher) { hasher.combine(id) }
}
