import BledRPC
import Bluetooth
import FoundationEssentials

/// The way to bled for the lines of one session.
package protocol DaemonTransport: AnyObject {
  /// Sends a line, its line feed included; it is lost if the connection has ended.
  func send(_ line: Data)
  func close()
}

/// Opens connections to bled.
package protocol DaemonConnector: AnyObject {
  /// Connects a session: its `receive` and `end` are called afterwards, never from inside this call.
  /// - Throws: `BledError.daemonUnreachable` or `.notPermitted`.
  func connect(_ session: DaemonSession) throws(BluetoothError) -> any DaemonTransport
}

/// One session of bled: typed calls out, and bled's messages in. It belongs to one thread or queue.
package final class DaemonSession {
  package typealias Answer = (Result<RPCMessage, BluetoothError>) -> Void

  /// The events and questions of bled.
  package struct Observer {
    /// An event: its name and message.
    var notified: (String, RPCMessage) -> Void
    /// A question, which `answer` or `refuse` answers.
    var asked: (RequestID, String, RPCMessage) -> Void
    /// The session is over; nil: this side closed it.
    var ended: (BluetoothError?) -> Void
    /// Called after each message, and after the end, once their effects are complete.
    var handled: () -> Void

    package init(
      notified: @escaping (String, RPCMessage) -> Void, asked: @escaping (RequestID, String, RPCMessage) -> Void,
      ended: @escaping (BluetoothError?) -> Void, handled: @escaping () -> Void = {}
    ) {
      self.notified = notified
      self.asked = asked
      self.ended = ended
      self.handled = handled
    }
  }

  private var machine = ConnectionMachine<Answer>()
  private var transport: (any DaemonTransport)?
  private var observer: Observer?
  private var lastID = 0
  /// The descriptor of the message that is being handled.
  private var passed: ReceivedDescriptor?

  /// Opens a session; a failure is reported like an end, later.
  package init(_ connector: any DaemonConnector, _ clock: any Scheduler, _ observer: Observer) {
    self.observer = observer
    do throws(BluetoothError) {
      transport = try connector.connect(self)
    } catch {
      clock.schedule(after: .zero) { [weak self] in self?.end(error) }
    }
  }

  /// A session on a connection that hands over its lines to `receive`, and its end to `end`, once `observe` was called.
  package init(over transport: any DaemonTransport) { self.transport = transport }

  package func observe(_ observer: Observer) { self.observer = observer }

  /// A session that is over from the start: its calls fail.
  package init() { _ = machine.end(nil) }

  package var isOpen: Bool { machine.isOpen }

  /// The failure of calls after the end.
  package var endError: BluetoothError { machine.endError }

  /// Calls a method. The completion is called once, later or, after the end of the session, at once.
  package func call<Method: RPCMethod>(
    _ method: Method.Type, _ params: Method.Params,
    _ completion: @escaping (Result<Method.Result, BluetoothError>) -> Void
  ) {
    lastID += 1
    let answer: Answer = { result in
      completion(
        result.flatMap { message in
          Result { () throws(RPCError) in try message.result(Method.Result.self) }.mapError(\.bluetoothError)
        })
    }
    do {
      send(try Self.line(method, id: lastID, params), id: lastID, answer)
    } catch {
      completion(.failure(error))
    }
  }

  /// The line of a call.
  /// - Throws: As `ConnectionMachine.line`.
  package static func line<Method: RPCMethod>(
    _ method: Method.Type, id: Int, _ params: Method.Params
  ) throws(BluetoothError) -> Data { try ConnectionMachine<Answer>.line(method, id: id, params) }

  /// Sends the line of a call with a unique number.
  /// - Parameter late: gets the answer of the call if it is abandoned.
  package func send(_ line: Data, id: Int, late: Answer? = nil, _ answer: @escaping Answer) {
    guard machine.begin(id, answer, late: late) else { return answer(.failure(machine.endError)) }
    transport?.send(line)
  }

  /// Ends the wait for a call.
  /// - Returns: False: it is not pending.
  package func abandon(_ id: Int, _ error: BluetoothError) -> Bool {
    guard let answer = machine.abandon(id) else { return false }
    answer(.failure(error))
    return true
  }

  /// Calls a method without handling a failure: bled's log has it.
  package func callUnawaited<Method: RPCMethod>(_ method: Method.Type, _ params: Method.Params) {
    call(method, params) { _ in }
  }

  package func answer(_ id: RequestID, _ result: some RPCPayload) {
    guard let line = try? RPCEncoding.success(id: id, result) else {
      return refuse(id, RPCError(code: RPCError.operationFailed, message: "the answer cannot be encoded"))
    }
    transport?.send(line)
  }

  package func refuse(_ id: RequestID, _ error: RPCError) {
    // An RPCError consists of strings and numbers: encoding it does not fail.
    if let line = try? RPCEncoding.failure(id: id, error) { transport?.send(line) }
  }

  /// The descriptor that arrived with the current message; nil if there was none, or it was taken.
  package func takeDescriptor() -> ReceivedDescriptor? {
    defer { passed = nil }
    return passed
  }

  /// Ends the session.
  /// - Parameter error: the failure of the pending calls; nil if this side no longer wants their answers.
  package func close(_ error: BluetoothError? = nil) { end(error, closesTransport: true) }

  // MARK: From the transport

  /// A line was received, perhaps with a descriptor.
  package func receive(_ line: Data, _ descriptor: ReceivedDescriptor?) {
    passed = descriptor
    // The message may end the session.
    let observer = observer
    defer {
      passed = nil
      observer?.handled()
    }
    do {
      switch try machine.receive(line) {
      case .answer(let completion, let result): completion(result)
      case .notification(let name, let message): observer?.notified(name, message)
      case .request(let id, let method, let message): observer?.asked(id, method, message)
      case .none: break
      }
    } catch {
      close(error)
    }
  }

  /// The connection ended.
  package func end(_ error: BluetoothError?) { end(error, closesTransport: false) }

  private func end(_ error: BluetoothError?, closesTransport: Bool) {
    // The first end sets the reason: closing the transport may call `end` with nil.
    guard let (calls, reason) = machine.end(error) else { return }
    let observer = observer
    let closed = closesTransport ? transport : nil
    (self.observer, transport) = (nil, nil)
    closed?.close()
    for completion in calls { completion(.failure(reason ?? machine.endError)) }
    observer?.ended(reason)
    observer?.handled()
  }
}
