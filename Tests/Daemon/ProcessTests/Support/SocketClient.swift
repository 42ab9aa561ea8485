import BledRPC
import Bluetooth
import FoundationEssentials
import Glibc
import TestSupport
import Testing

/// A small client of the daemon's socket: it waits for the message that a test expects, and keeps all others.
final class SocketClient {
  let descriptor: CInt
  /// The messages that were received and not consumed.
  private var messages: [RPCMessage] = []
  private var framer = LineFramer(limit: 64 << 20)
  private var lastID = 0
  private var isClosed = false

  init(_ path: String) throws { descriptor = try UnixSocket.connect(path) }

  /// The daemon's side of a connection that a test accepts.
  init(acceptedBy listener: CInt) throws {
    descriptor = accept(listener, nil, nil)
    guard descriptor >= 0 else { throw ChildProcess.Failure(description: "accept: \(errno)") }
  }

  deinit { if !isClosed { Glibc.close(descriptor) } }

  /// Closes the connection abruptly.
  func close() {
    isClosed = true
    Glibc.close(descriptor)
  }

  /// Sends octets unchanged.
  func send(raw octets: some Collection<UInt8>) throws {
    var rest = Array(octets)[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL)) }
      guard count > 0 else { throw ChildProcess.Failure(description: "send: \(String(cString: strerror(errno)))") }
      rest = rest.dropFirst(count)
    }
  }

  func send(raw text: String) throws { try send(raw: text.utf8) }

  /// Sends a call without waiting for its answer.
  func start<Method: RPCMethod>(_ method: Method.Type, _ params: Method.Params) throws -> Int {
    lastID += 1
    try send(raw: try RPCEncoding.request(method, id: .number(lastID), params))
    return lastID
  }

  /// Waits for the answer to a call.
  func finish<Method: RPCMethod>(_ id: Int, _ method: Method.Type) throws -> Result<Method.Result, RPCError> {
    try wait(for: "the answer to \(Method.name)") { message in
      switch message.kind {
      case .success(.number(id)): .success(try message.result(Method.Result.self))
      case .failure(.number(id)?, let error): .failure(error)
      default: nil
      }
    }
  }

  /// Calls and waits for the result.
  @discardableResult
  func call<Method: RPCMethod>(_ method: Method.Type, _ params: Method.Params) throws -> Method.Result {
    try finish(start(method, params), method).get()
  }

  /// Calls and waits for the error.
  func error<Method: RPCMethod>(_ method: Method.Type, _ params: Method.Params) throws -> RPCError? {
    if case .failure(let error) = try finish(start(method, params), method) { error } else { nil }
  }

  /// Waits for a matching notification.
  @discardableResult
  func next<Notification: RPCNotification>(
    _ type: Notification.Type, where fits: (Notification.Params) -> Bool = { _ in true }
  ) throws -> Notification.Params {
    try wait(for: Notification.name) { message in
      guard case .notification(Notification.name) = message.kind else { return nil }
      let params = try message.params(Notification.Params.self)
      return fits(params) ? params : nil
    }
  }

  /// Waits for a call of the daemon.
  func nextCall<Method: RPCMethod>(_ type: Method.Type) throws -> (id: RequestID, params: Method.Params) {
    try wait(for: Method.name) { message in
      guard case .request(let id, Method.name) = message.kind else { return nil }
      return (id, try message.params(Method.Params.self))
    }
  }

  /// Waits for an error without an id.
  func nextError() throws -> RPCError {
    try wait(for: "an error without id") { message in
      if case .failure(nil, let error) = message.kind { error } else { nil }
    }
  }

  /// Answers a call of the daemon.
  func answer(_ id: RequestID, _ result: some RPCPayload) throws {
    try send(raw: try RPCEncoding.success(id: id, result))
  }

  /// Waits until the daemon closes the connection.
  func waitForEnd() throws {
    while try receive() {}
  }

  private func wait<Found>(for what: String, _ find: (RPCMessage) throws -> Found?) throws -> Found {
    while true {
      for (index, message) in messages.enumerated() {
        if let found = try find(message) {
          messages.remove(at: index)
          return found
        }
      }
      guard try receive() else { throw ChildProcess.Failure(description: "the daemon hung up before \(what)") }
    }
  }

  /// - Returns: false at the end of the stream.
  private func receive() throws -> Bool {
    guard Patience.wait(for: descriptor) else {
      throw ChildProcess.Failure(description: "nothing came from the daemon for \(Patience.seconds) s")
    }
    var octets = [UInt8](repeating: 0, count: 65_536)
    let count = recv(descriptor, &octets, octets.count, 0)
    guard count > 0 else { return false }
    framer.append(octets[..<count])
    while let line = try framer.next() { messages.append(try RPCMessage(line: line)) }
    return true
  }
}
