import BledRPC
import Bluetooth
import FoundationEssentials
import Logging

/// A program's connection: its lines in both directions, and the pending calls of both sides. Its session lasts longer,
/// if the program requests that.
public final class SessionConnection {
  /// Maximum pending calls of one client.
  static let maximumOpenReplies = 1024
  /// Octets written at once, unless a single line is longer.
  static let batch = 64 << 10

  /// The session served.
  public private(set) var session: Session
  /// The credentials of the program at the other end, if the transport knows them.
  let peer: PeerCredentials?
  /// The credentials of the session's user: the program's own, or those of the user it acts for.
  public private(set) var credentials: PeerCredentials?
  /// True if its program acts for another user.
  private(set) var isImpersonating = false

  /// The methods.
  var permissions: Set<Permission>

  /// The client's pending calls.
  var openReplies: [Int: any OpenReply] = [:] {
    didSet { countCalls() }
  }
  private var countedCalls = 0
  /// Received calls, including lines that are none: their answers may still wait in the present session's outbox.
  var callCount = 0
  private var replyCount = 0
  private var isReading = true
  /// True if only reports are queued.
  private var onlyReportsWait = false
  /// The octets of incomplete or unhandled lines in the transport.
  private var charged = 0
  private let transport: any SessionTransport
  private let router: Router
  private let logger: Logger
  /// Called when a slow client has caught up.
  private let onRelief: () -> Void

  init(
    transport: any SessionTransport, credentials: PeerCredentials?, session: Session, router: Router, logger: Logger,
    onRelief: @escaping () -> Void
  ) {
    self.onRelief = onRelief
    self.transport = transport
    peer = credentials
    self.credentials = credentials
    self.session = session
    permissions = session.rules.policy.permissions(of: credentials)
    self.router = router
    self.logger = logger
    session.connection = self
  }

  deinit {
    session.charge(-charged)
    session.account.calls -= countedCalls
  }

  /// True while it carries its session's lines.
  var isOpen: Bool { session.connection === self }

  /// Handles a client's line, without its line feed.
  public func receive(_ line: Data) {
    guard isOpen, !session.hasOverflowed else { return }
    do {
      let message = try RPCMessage(line: line)
      switch message.kind {
      case .request(let id, let method): router.handle(message, method: method, id: id, from: self)
      case .notification(let method): router.handle(message, method: method, id: nil, from: self)
      case .success(let id):
        let call = session.calls.remove(id)
        guard message.length <= ordinaryLine else {
          call?.fail(.invalid("the answer has \(message.length) octets; the limit is \(ordinaryLine)"))
          return
        }
        call?.succeed(message)
      case .failure(let id?, let error):
        let call = session.calls.remove(id)
        call?.fail(error)
      case .failure(nil, let error):
        logger.debug(
          "session \(session.id) could not read a message from bled: \(error.message)",
          metadata: .about(session: session))
      }
    } catch {
      callCount += 1
      refuse(error.id, error.error)
    }
  }

  /// The longest line accepted now, in octets. Lines longer than an ordinary one count against the user's limit of
  /// queued octets.
  public var longestLine: Int {
    min(LineFramer.defaultLimit, max(ordinaryLine, session.room + charged))
  }

  /// Counts the transport's octets among those queued for the user's programs.
  public func charge(_ octets: Int) {
    guard octets != charged else { return }
    session.charge(octets - charged)
    charged = octets
  }

  /// Answers a line that was too long with an error.
  public func receive(_ tooLong: LineFramer.TooLong) {
    callCount += 1
    refuse(nil, tooLong.error)
  }

  /// The next lines to write, about 64 KiB; none if none waits.
  public func removeLines() -> Outbox.Batch {
    guard isOpen || !session.isOpen else { return Outbox.Batch() }
    onlyReportsWait = false
    let batch = session.removeLines(upTo: Self.batch)
    if !isReading, session.outbox.isRelieved {
      isReading = true
      transport.setReading(true)
      onRelief()
    }
    return batch
  }

  /// True if a client that sends nothing more waits for nothing.
  public var isDone: Bool { openReplies.isEmpty && session.outbox.isEmpty }

  private func countCalls() {
    session.account.calls += openReplies.count - countedCalls
    countedCalls = openReplies.count
  }

  /// Checks whether one more call may wait for its answer.
  /// - Throws: `BledError.limitReached`.
  func admitCall() throws(BluetoothError) {
    let isUser = session.account.calls >= Rules.UserAccount.maximumCalls
    guard isUser || openReplies.count >= Self.maximumOpenReplies else { return }
    let (who, most) =
      isUser ? ("the sessions of this user have", session.account.calls) : ("this session has", openReplies.count)
    throw BledError.limitReached.error("\(who) \(most) calls in progress; wait for some of them to finish")
  }

  func nextReplyNumber() -> Int {
    replyCount += 1
    return replyCount
  }

  /// Adopts the credentials of the user its program acts for.
  func act(as credentials: PeerCredentials?) {
    self.credentials = credentials
    isImpersonating = true
    permissions = session.rules.policy.permissions(of: credentials)
  }

  /// Moves to another session, perhaps another user's, from one without resources.
  func resume(_ kept: Session) {
    let charged = charged
    charge(0)
    session.account.calls -= countedCalls
    session.retire()
    session = kept
    session.account.calls += countedCalls
    charge(charged)
    kept.resume(on: self)
  }

  /// - Parameters:
  ///   - isFirst: true to send it before the program's kept lines.
  ///   - descriptor: the descriptor passed with the answer.
  func answer(
    _ id: RequestID, _ result: some RPCPayload, isFirst: Bool = false, with descriptor: PassedDescriptor? = nil
  ) {
    guard let line = session.encoded({ try RPCEncoding.success(id: id, result) }) else {
      return refuse(
        id,
        RPCError(code: RPCError.internalError, message: "the result could not be written as JSON; see bled's log"))
    }
    if isFirst { session.sendFirst(line) } else { session.send(line, as: .answer, with: descriptor) }
  }

  func refuse(_ id: RequestID?, _ error: RPCError) {
    session.send(session.encoded { try RPCEncoding.failure(id: id, error) }, as: .answer)
  }

  /// A call without an answer is done: a client that sends no more may still be waiting for it.
  func endedUnanswered() {
    if isDone { transport.linesWait() }
  }

  /// A line was added to the session's outbox.
  /// - Parameter isReport: true if it need not leave at once.
  func linesWait(wereNone: Bool, isReport: Bool = false) {
    if wereNone, isReport {
      onlyReportsWait = true
      transport.reportsWait()
    } else if wereNone || onlyReportsWait && !isReport {
      onlyReportsWait = false
      transport.linesWait()
    }
    if isReading, session.outbox.isCongested {
      isReading = false
      transport.setReading(false)
    }
  }

  /// The program has disconnected and its session is preserved: answers are no longer wanted.
  func abandon() {
    for reply in openReplies.values { reply.abandon() }
    openReplies = [:]
  }

  /// Answers all pending calls with this error, and closes once everything is written.
  func end(_ error: BluetoothError) {
    for number in openReplies.keys.sorted() { openReplies[number]?.fail(error) }
    transport.close()
  }
}

/// The carrier of a connection's lines: a socket, or an array in a test.
public protocol SessionTransport: AnyObject {
  /// Lines wait. Call `SessionConnection.removeLines` soon, but not from inside this call, until it returns none.
  func linesWait()
  /// Like `linesWait`, for device reports, which may wait some milliseconds for others.
  func reportsWait()
  /// Accepts or pauses the client's lines; while false, none may be passed to `SessionConnection.receive`.
  func setReading(_ wanted: Bool)
  /// Ends the connection, after the queued lines have been written as far as the client reads them.
  func close()
}
