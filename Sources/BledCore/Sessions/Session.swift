import BledRPC
import Bluetooth
import FoundationEssentials
import Logging

/// One connection of a client and everything that is in flight on it. What a session holds (scans, links, services,
/// advertisements) is kept by the brokers, which are told when it ends.
public final class Session {
  /// How many calls of one client may wait for their answers.
  static let maximumOpenReplies = 1024
  /// How many octets are written at once, unless a single line is longer.
  static let batch = 64 << 10

  /// Unique since the daemon's start.
  public let id: Int
  /// What the program calls itself; empty until `session.open`.
  public internal(set) var name = ""
  /// Who is at the other end, where the transport knows.
  public let credentials: PeerCredentials?
  /// False once the session has given back what it held.
  public private(set) var isOpen = true

  /// Answers that this client waits for.
  var openReplies: [Int: any OpenReply] = [:]
  var calls = OutgoingCalls()
  private(set) var outbox: Outbox
  private var replyCount = 0
  private var isReading = true
  private let router: Router
  private let logger: Logger
  private let transport: any SessionTransport
  private let onOverflow: (Session) -> Void

  init(
    id: Int, transport: any SessionTransport, credentials: PeerCredentials?, limits: Outbox.Limits, router: Router,
    logger: Logger, onOverflow: @escaping (Session) -> Void
  ) {
    self.id = id
    self.transport = transport
    self.credentials = credentials
    outbox = Outbox(limits: limits)
    self.router = router
    self.logger = logger
    self.onOverflow = onOverflow
  }

  /// Handles one line of the client, without its line feed.
  public func receive(_ line: Data) {
    guard isOpen else { return }
    if line.first(where: { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\t") }) == UInt8(ascii: "[") {
      return refuse(nil, RPCError(code: RPCError.invalidRequest, message: "no batches: send one message a line"))
    }
    do {
      let message = try RPCMessage(line: line)
      switch message.kind {
      case .request(let id, let method): router.handle(message, method: method, id: id, from: self)
      case .notification(let method): router.handle(message, method: method, id: nil, from: self)
      case .success(let id):
        let call = calls.take(id)
        call?.succeed(message)
      case .failure(let id?, let error):
        let call = calls.take(id)
        call?.fail(error)
      case .failure(nil, let error): logger.debug("session \(self.id) could not read a line of ours: \(error.message)")
      }
    } catch {
      refuse(error.id, error.error)
    }
  }

  /// Tells the client about a line that was too long to be kept.
  public func receive(_ tooLong: LineFramer.TooLong) { refuse(nil, tooLong.error) }

  /// The next lines to write, about 64 KiB; empty if none waits.
  public func takeLines() -> [Data] {
    let lines = outbox.take(upTo: Self.batch)
    if !isReading, outbox.isRelieved {
      isReading = true
      transport.setReading(true)
    }
    return lines
  }

  /// Whether a client that will not send anything more still waits for something.
  public var isDone: Bool { openReplies.isEmpty && outbox.isEmpty }

  func nextReplyNumber() -> Int {
    replyCount += 1
    return replyCount
  }

  /// Sends an event that must arrive.
  func send<Notification: RPCNotification>(_ notification: Notification.Type, _ params: Notification.Params) {
    send(encoded { try RPCEncoding.notification(notification, params) }, as: .event)
  }

  /// Calls the client.
  func call<Method: RPCMethod>(
    _ method: Method.Type, _ params: Method.Params,
    _ completion: @escaping (Result<Method.Result, RPCError>) -> Void
  ) -> OutgoingCalls.Number {
    let number = calls.begin(completion)
    send(encoded { try RPCEncoding.request(method, id: .number(number), params) }, as: .event)
    return number
  }

  /// Calls the client, whose answer is of no interest.
  func callWithoutAnswer<Method: RPCMethod>(_ method: Method.Type, _ params: Method.Params) {
    let number = calls.beginUnanswered()
    send(encoded { try RPCEncoding.request(method, id: .number(number), params) }, as: .event)
  }

  func answer(_ id: RequestID, _ result: some Encodable) {
    send(encoded { try RPCEncoding.success(id: id, result) }, as: .event)
  }

  func refuse(_ id: RequestID?, _ error: RPCError) {
    send(encoded { try RPCEncoding.failure(id: id, error) }, as: .event)
  }

  /// Sends a line that may be shared with other sessions.
  @discardableResult
  func send(_ line: Data?, as kind: Outbox.Kind) -> Outbox.Admission {
    guard isOpen, let line else { return .queued }
    let wasEmpty = outbox.isEmpty
    let admission = outbox.append(line, as: kind)
    if admission == .overflow {
      logger.warning("session \(id) \(name) does not read what it is sent; it is closed")
      onOverflow(self)
    } else if wasEmpty {
      transport.linesWait()
    }
    if isReading, outbox.isCongested {
      isReading = false
      transport.setReading(false)
    }
    return admission
  }

  /// Answers all calls that wait with this error, drops our own, and ends the connection once all is written.
  func end(_ error: BluetoothError) {
    guard isOpen else { return }
    for number in openReplies.keys.sorted() { openReplies[number]?.fail(error) }
    isOpen = false
    calls.drop()
    transport.close()
  }

  private func encoded(_ encode: () throws -> Data) -> Data? {
    do {
      return try encode()
    } catch {
      logger.error("session \(id): a message could not be written as JSON: \(error)")
      return nil
    }
  }
}

extension Session: Hashable {
  /// Sessions are equal if they are the same.
  public static func == (left: Session, right: Session) -> Bool { left === right }
  /// By number.
  public func hash(into hasher: inout Hasher) { hasher.combine(id) }
}
