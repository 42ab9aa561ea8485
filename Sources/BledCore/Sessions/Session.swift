import BledRPC
import Bluetooth
import FoundationEssentials
import Logging

/// One program's use of the daemon: who it is, and what waits for it to read. What a session holds (scans, links, services,
/// advertisements) is kept by the brokers, which are told when it ends.
public final class Session {
  /// Unique since the daemon's start.
  public let id: Int
  /// What the program calls itself; empty until `session.open`.
  public internal(set) var name = ""
  /// Who its program is, where the transport knows.
  public let credentials: PeerCredentials?
  /// False once the session has given back what it held.
  public private(set) var isOpen = true

  /// The connection of its program.
  var connection: SessionConnection?
  var outbox: Outbox
  private let logger: Logger
  private let onOverflow: (Session) -> Void

  init(
    id: Int, credentials: PeerCredentials?, limits: Outbox.Limits, logger: Logger,
    onOverflow: @escaping (Session) -> Void
  ) {
    self.id = id
    self.credentials = credentials
    outbox = Outbox(limits: limits)
    self.logger = logger
    self.onOverflow = onOverflow
  }

  /// Sends an event that must arrive.
  func send<Notification: RPCNotification>(_ notification: Notification.Type, _ params: Notification.Params) {
    send(encoded { try RPCEncoding.notification(notification, params) }, as: .event)
  }

  /// Calls the client.
  func call<Method: RPCMethod>(
    _ method: Method.Type, _ params: Method.Params,
    _ completion: @escaping (Result<Method.Result, RPCError>) -> Void
  ) -> OutgoingCalls.Number? {
    guard let number = connection?.calls.begin(completion) else { return nil }
    send(encoded { try RPCEncoding.request(method, id: .number(number), params) }, as: .event)
    return number
  }

  /// Calls the client, whose answer is of no interest.
  func callWithoutAnswer<Method: RPCMethod>(_ method: Method.Type, _ params: Method.Params) {
    guard let number = connection?.calls.beginUnanswered() else { return }
    send(encoded { try RPCEncoding.request(method, id: .number(number), params) }, as: .event)
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
    }
    connection?.linesWait(wereNone: wasEmpty && admission != .overflow)
    return admission
  }

  /// Ends the connection, if there is one, after all calls were answered with this error.
  func end(_ error: BluetoothError) {
    guard isOpen else { return }
    connection?.end(error)
    isOpen = false
    connection = nil
  }

  func encoded(_ encode: () throws -> Data) -> Data? {
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
