import BledRPC
import Bluetooth
import FoundationEssentials

/// The table of methods: finds the handler of a call, decodes its params, and ensures an answer to every call.
final class Router {
  private typealias Handler = (RPCMessage, SessionConnection, RequestID?) throws -> Void
  private struct Entry {
    let permission: Permission?
    let changesSession: Bool
    let longestLine: Int
    /// True if its calls reach operations on links, which have their turns.
    let waitsForLink: Bool
    let counter: CallMetrics.Counter
    let handle: Handler
  }
  /// Maximum octets of a method name to look up.
  private static let longestName = 128
  private var entries: [OctetText: Entry] = [:]
  private let calls: CallMetrics
  private let annotations: CallAnnotations

  /// - Parameters:
  ///   - calls: the metrics of calls.
  ///   - annotations: the notes of permitted calls in recordings.
  init(_ calls: CallMetrics, annotations: CallAnnotations) {
    self.calls = calls
    self.annotations = annotations
  }

  /// Serves a method answered at once.
  func answer<Method: ClientCall>(
    _ method: Method.Type, _ body: @escaping (Method.Params, Session) throws -> Method.Result
  ) {
    add(method) { [calls] message, connection, id in
      let began = calls.now
      let result = try body(try message.params(Method.Params.self), connection.session)
      if let id { connection.answer(id, result) }
      calls.answered(since: began, isRead: false, hasFailed: false)
    }
  }

  /// Serves a method answered at once with an empty result.
  func acknowledge<Method: ClientCall>(
    _ method: Method.Type, _ body: @escaping (Method.Params, Session) throws -> Void
  ) where Method.Result == Empty {
    answer(method) { params, session in
      try body(params, session)
      return Empty()
    }
  }

  /// Serves a method answered later, through the reply. An error thrown by the body is an answer, too.
  /// - Parameter waitsForLink: true if its calls reach operations on links.
  func serve<Method: ClientCall>(
    _ method: Method.Type, waitsForLink: Bool = false,
    _ body: @escaping (Method.Params, Session, Reply<Method.Result>) throws -> Void
  ) {
    let isRead = Method.self == GATTRead.self
    add(method, waitsForLink: waitsForLink) { [calls] message, connection, id in
      let params = try message.params(Method.Params.self)
      try connection.admitCall()
      let reply = Reply<Method.Result>(connection: connection, id: id, measuredBy: calls, isRead: isRead)
      do {
        try body(params, connection.session, reply)
      } catch let error as BluetoothError {
        reply.fail(error)
      }
    }
  }

  /// Serves a method without parameters whose result is constant: its octets are made once, for the first call with an
  /// id, and shared.
  func answer<Method: ClientCall>(
    _ method: Method.Type, always make: @escaping () -> Data
  ) where Method.Params == Empty {
    var made: Data?
    add(method) { message, connection, id in
      _ = try message.params(Empty.self)
      guard let id else { return }
      let result = made ?? make()
      made = result
      connection.session.send(RPCEncoding.success(id: id, encoded: result), as: .answer)
    }
  }

  private func add<Method: ClientCall>(
    _ method: Method.Type, waitsForLink: Bool = false, _ handle: @escaping Handler
  ) {
    let (information, counter) = (Method.method, calls.counter(of: Method.name))
    entries[OctetText(Method.name)] = Entry(
      permission: information.permission, changesSession: information.changesSession, longestLine: Method.longestLine,
      waitsForLink: waitsForLink, counter: counter, handle: handle)
  }

  /// Handles a client's call, if its user is permitted to make it; a call without an id gets no answer.
  func handle(_ message: RPCMessage, method: String, id: RequestID?, from connection: SessionConnection) {
    connection.callCount += 1
    let failure: RPCError
    connection.session.costs.requests += 1
    do {
      guard method.utf8.count <= Self.longestName, let entry = entries[OctetText(method)] else {
        throw RPCError(
          code: RPCError.methodNotFound,
          message: "there is no method \"\(method.excerpt)\"; \(RPCDiscover.name) lists them")
      }
      if let permission = entry.permission, !connection.permissions.contains(permission) {
        throw connection.session.rules.policy.refusal(of: permission, to: connection.credentials)
      }
      guard message.length <= entry.longestLine else {
        throw RPCError.invalid("the line has \(message.length) octets; the limit of \(method) is \(entry.longestLine)")
      }
      entry.counter.count += 1
      annotations.called(method, message, by: connection.session, waitsForLink: entry.waitsForLink)
      defer { annotations.handled() }
      try entry.handle(message, connection, id)
      if entry.changesSession, let changed = connection.session.onChange { changed(true) }
      return
    } catch let error as RPCError {
      failure = error
    } catch let error as BluetoothError {
      failure = RPCError(error)
    } catch {
      failure = RPCError(BledError.invalidParameter.error("\(error)"))
    }
    connection.session.costs.requestsFailed += 1
    calls.refused()
    if let id { connection.refuse(id, failure) }
  }
}
