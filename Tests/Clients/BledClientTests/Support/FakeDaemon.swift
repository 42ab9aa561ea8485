import BledRPC
import Foundation
import Glibc
import TestSupport

/// A scripted daemon for tests of the client, for one connection. It blocks, so it runs on a separate thread:
/// `FakeDaemon.run` plays a script and returns its failure.
final class FakeDaemon: @unchecked Sendable {
  let path: String
  private let listener: Int32
  private var connection: Int32 = -1
  private var framer = LineFramer()
  /// Octets that are sent together with the next ones.
  private var held: Data?

  init() throws {
    path = "/tmp/bled-fake-\(UUID().uuidString.prefix(8)).sock"
    listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
    let bound = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(listener, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    guard bound == 0, listen(listener, 1) == 0 else { throw Trouble("cannot listen on \(path): \(errno)") }
  }

  deinit {
    if connection >= 0 { Glibc.close(connection) }
    Glibc.close(listener)
    unlink(path)
  }

  struct Trouble: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
  }

  /// Plays a script concurrently with the test.
  /// - Parameters:
  ///   - opens: True to answer `session.open` before.
  ///   - restored: The preserved state; if given, the script's first lines are sent together with that answer.
  func play(
    protocol version: Int = 1, opens: Bool = true, restored: RestoredState? = nil,
    _ script: @escaping @Sendable (FakeDaemon) throws -> Void
  ) -> Task<Void, any Error> {
    Task.detached {
      try await withCheckedThrowingContinuation { continuation in
        Thread.detachNewThread {
          continuation.resume(
            with: Result {
              self.connection = accept(self.listener, nil, nil)
              if opens { try self.open(version, restored) }
              do {
                try script(self)
              } catch {
                // The client must not wait for messages that will not be sent.
                shutdown(self.connection, Int32(SHUT_RDWR))
                throw error
              }
            })
        }
      }
    }
  }

  private func open(_ version: Int, _ restored: RestoredState?) throws {
    let (id, params) = try expect(SessionOpen.self)
    guard (restored != nil) == (params.restore != nil) else { throw Trouble("restore: \(params)") }
    let result = SessionOpen.Result(
      session: 1, daemon: "fake 1", protocol: version, adapters: [], restored: restored)
    if restored != nil {
      held = try RPCEncoding.success(id: id, result)
    } else {
      try answer(id, result)
    }
  }

  /// Reads the next line, which must be this call.
  func expect<Method: RPCMethod>(_ method: Method.Type) throws -> (id: RequestID, params: Method.Params) {
    let message = try next()
    guard case .request(let id, Method.name) = message.kind else {
      throw Trouble("expected \(Method.name), got \(message.kind)")
    }
    return (id, try message.params(Method.Params.self))
  }

  /// Reads the next line. All tests begin at once, so a client may have its turn late.
  func next() throws -> RPCMessage {
    var buffer = [UInt8](repeating: 0, count: 65536)
    while true {
      if let line = try framer.next() { return try RPCMessage(line: line) }
      guard Patience.wait(for: connection) else { throw Trouble("nothing came from the client") }
      let count = recv(connection, &buffer, buffer.count, 0)
      guard count > 0 else { throw Trouble("the client closed") }
      framer.append(buffer[..<count])
    }
  }

  /// Waits for the client to close.
  func expectEnd() throws {
    do {
      let message = try next()
      throw Trouble("expected the end, got \(message.kind)")
    } catch let trouble as Trouble where trouble.description == "the client closed" {}
  }

  func answer(_ id: RequestID, _ result: some RPCPayload) throws { send(try RPCEncoding.success(id: id, result)) }

  func notify<Notification: RPCNotification>(_ type: Notification.Type, _ params: Notification.Params) throws {
    send(try RPCEncoding.notification(type, params))
  }

  func send(_ bytes: Data) {
    var rest = (held ?? Data()) + bytes
    held = nil
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.send(connection, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
      guard count > 0 else { return }
      rest = Data(rest.dropFirst(count))
    }
  }

  /// Sends octets with a descriptor, in one message, and closes the descriptor here.
  func send(_ bytes: Data, passing descriptor: Int32) {
    PassedDescriptor.send(Array(bytes), passing: descriptor, over: connection)
  }

  func close() {
    Glibc.shutdown(connection, Int32(SHUT_RDWR))
  }
}
