import BledRPC
import Bluetooth
import FoundationEssentials
import Testing

@testable import BledCore

/// A client in memory. It reads its lines whenever a test looks, unless reading is switched off.
final class TestClient: SessionTransport {
  private(set) var connection: SessionConnection?
  private(set) var messages: [RPCMessage] = []
  /// The lines of `messages`, as received.
  private(set) var lines: [Data] = []
  private var descriptors: [PassedDescriptor] = []
  private(set) var isClosed = false
  private(set) var isRead = true
  /// True if it reads the lines sent to it.
  var reads = true
  private let daemon: Daemon
  private var lastID = 0

  init(_ daemon: Daemon, credentials: PeerCredentials? = PeerCredentials(process: 1, user: 0, group: 0)) {
    self.daemon = daemon
    connection = daemon.open(self, credentials: credentials)
  }

  /// The session that its lines belong to.
  var session: Session? { connection?.session }

  func linesWait() {}
  func reportsWait() {}
  func setReading(_ wanted: Bool) { isRead = wanted }
  func close() { isClosed = true }

  /// The client dies.
  func die() {
    if let connection { daemon.closed(connection) }
  }

  /// Sends a line as it is.
  func send(_ line: String) { connection?.receive(Data(line.utf8)) }

  /// Calls a method.
  /// - Returns: the id to look for the answer with.
  @discardableResult
  func call<Method: RPCMethod>(_ method: Method.Type, _ params: Method.Params) throws -> Int {
    lastID += 1
    let line = try RPCEncoding.request(method, id: .number(lastID), params)
    connection?.receive(line.dropLast())
    return lastID
  }

  /// Answers a call of the daemon.
  func answer(_ id: RequestID, _ result: some RPCPayload) throws {
    connection?.receive(try RPCEncoding.success(id: id, result).dropLast())
  }

  /// Refuses a call of the daemon.
  func refuse(_ id: RequestID, _ error: BluetoothError) throws {
    connection?.receive(try RPCEncoding.failure(id: id, RPCError(error)).dropLast())
  }

  /// The answer to a call; nil if there is none yet. More than one is a failure of the test.
  func answer<Method: RPCMethod>(to id: Int, _ method: Method.Type) throws -> Result<Method.Result, RPCError>? {
    drain()
    let answers = try messages.compactMap { message -> Result<Method.Result, RPCError>? in
      switch message.kind {
      case .success(.number(id)): .success(try message.result(Method.Result.self))
      case .failure(.number(id)?, let error): .failure(error)
      default: nil
      }
    }
    #expect(answers.count <= 1, "\(Method.name) was answered \(answers.count) times")
    return answers.first
  }

  /// The result of a call that is answered at once.
  func result<Method: RPCMethod>(_ method: Method.Type, _ params: Method.Params) throws -> Method.Result {
    let id = try call(method, params)
    return try #require(try answer(to: id, method), "\(Method.name) was not answered").get()
  }

  /// The error of a call that is refused at once.
  func error<Method: RPCMethod>(_ method: Method.Type, _ params: Method.Params) throws -> RPCError? {
    let id = try call(method, params)
    return try error(of: id, method)
  }

  /// The error with which a call was refused; nil if it was not.
  func error<Method: RPCMethod>(of id: Int, _ method: Method.Type) throws -> RPCError? {
    if case .failure(let error) = try answer(to: id, method) { error } else { nil }
  }

  /// The notifications received under this name.
  func notifications<Notification: RPCNotification>(_ type: Notification.Type) throws -> [Notification.Params] {
    drain()
    return try messages.compactMap { message in
      guard case .notification(Notification.name) = message.kind else { return nil }
      return try message.params(Notification.Params.self)
    }
  }

  /// The daemon's calls of this name.
  func calls<Method: RPCMethod>(_ type: Method.Type) throws -> [(id: RequestID, params: Method.Params)] {
    drain()
    return try messages.compactMap { message in
      guard case .request(let id, Method.name) = message.kind else { return nil }
      return (id, try message.params(Method.Params.self))
    }
  }

  /// The errors without an id.
  var errors: [RPCError] {
    drain()
    return messages.compactMap { if case .failure(nil, let error) = $0.kind { error } else { nil } }
  }

  /// The first passed descriptor that was not taken.
  func takePassed() -> PassedDescriptor? {
    drain()
    return descriptors.isEmpty ? nil : descriptors.removeFirst()
  }

  /// Forgets the received lines.
  func forget() {
    drain()
    messages = []
    lines = []
  }

  func drain() {
    guard reads, let connection else { return }
    while true {
      let batch = connection.removeLines()
      if let passed = batch.descriptor { descriptors.append(passed) }
      let taken = batch.lines
      guard !taken.isEmpty else { return }
      for line in taken {
        #expect(line.last == UInt8(ascii: "\n"))
        lines.append(line)
        do {
          messages.append(try RPCMessage(line: line.dropLast()))
        } catch {
          Issue.record("the daemon sent a line that is no message: \(error)")
        }
      }
    }
  }
}

extension TestClient {
  /// Publishes a characteristic that can be read on an encrypted link only, and returns its handle.
  func publishProtectedValue(_ value: [UInt8]) throws -> UInt16 {
    let characteristic = ServiceToPublish.Characteristic(
      uuid: 0x2A56, properties: ["read"], permissions: ["readEncryptionRequired"], value: HexBytes(value))
    let published = try result(ServiceAdd.self, .init(service: .init(uuid: 0x1815, characteristics: [characteristic])))
    return try #require(published.service.characteristics?.first?.handle)
  }
}
