import BledClient
import Foundation
import Glibc
import Synchronization
import TestSupport

/// A daemon for one client, through which the lines of a real one pass: from some request on they are held back until
/// the test releases them, as if the daemon were slow.
public final class SlowDaemon: Sendable {
  private struct State {
    /// The number of requests that pass before the daemon's lines are held; nil for none.
    var limit: Int?
    /// The ids of the requests that are counted.
    var requests: [String] = []
    var isHolding = false
    var held: [(line: Data, descriptor: ReceivedDescriptor?)] = []
    var connection: Int32 = -1
  }

  /// The path of its socket.
  public let path = "/tmp/bled-slow-\(UUID().uuidString.prefix(8))"
  private let listener: Int32
  private let state = Mutex(State())
  private let upstream: LineConnection

  /// The socket cannot be made.
  public struct NotListening: Error {}

  /// Stands in front of a daemon.
  public init(_ daemon: Daemon) async throws {
    upstream = try await LineConnection.connect(to: daemon.socket)
    listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
    let bound = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(listener, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    guard bound == 0, listen(listener, 1) == 0 else { throw NotListening() }
    Thread.detachNewThread { [weak self, listener] in
      let connection = accept(listener, nil, nil)
      self?.begin(connection)
      Self.read(connection) { self?.sent($0) }
      self?.upstream.close()
    }
  }

  deinit {
    state.withLock { if $0.connection >= 0 { Glibc.close($0.connection) } }
    Glibc.close(listener)
    unlink(path)
  }

  /// The lines of the daemon are held from the answer to the request of this number on, counted from now, from 1.
  public func hold(from number: Int) {
    state.withLock { ($0.limit, $0.requests) = (number, []) }
  }

  /// True while lines are held.
  public var isHolding: Bool { state.withLock { $0.isHolding } }

  /// The held lines are sent, and those behind them.
  public func release() {
    state.withLock { state in
      for (line, descriptor) in state.held { Self.deliver(line, descriptor, to: state.connection) }
      (state.limit, state.isHolding, state.held) = (nil, false, [])
    }
  }

  private func begin(_ connection: Int32) {
    state.withLock { $0.connection = connection }
    upstream.start(line: { [weak self] in self?.received($0, $1) }, closed: { [weak self] _ in self?.closed() })
  }

  /// A line of the client.
  private func sent(_ line: Data) {
    if let message = try? RPCMessage(line: line), case .request(let id, _) = message.kind {
      state.withLock { if $0.limit != nil { $0.requests.append("\(id)") } }
    }
    upstream.send(line + Data("\n".utf8))
  }

  /// A line of the daemon.
  private func received(_ line: Data, _ descriptor: ReceivedDescriptor?) {
    state.withLock { state in
      if let limit = state.limit, state.requests.count >= limit, let id = Self.answered(line),
        state.requests[(limit - 1)...].contains(id)
      {
        state.isHolding = true
      }
      if state.isHolding {
        state.held.append((line, descriptor))
      } else {
        Self.deliver(line, descriptor, to: state.connection)
      }
    }
  }

  private func closed() { state.withLock { _ = shutdown($0.connection, Int32(SHUT_RDWR)) } }

  /// The id of the request that a line answers.
  private static func answered(_ line: Data) -> String? {
    guard let message = try? RPCMessage(line: line) else { return nil }
    return switch message.kind {
    case .success(let id): "\(id)"
    case .failure(let id?, _): "\(id)"
    default: nil
    }
  }

  private static func deliver(_ line: Data, _ descriptor: ReceivedDescriptor?, to connection: Int32) {
    var rest = Array(line) + [UInt8(ascii: "\n")]
    if let descriptor = descriptor?.take() {
      return PassedDescriptor.send(rest, passing: descriptor, over: connection)
    }
    while !rest.isEmpty {
      let count = send(connection, rest, rest.count, Int32(MSG_NOSIGNAL))
      guard count > 0 else { return }
      rest.removeFirst(count)
    }
  }

  /// Reads lines until the end.
  private static func read(_ connection: Int32, _ line: (Data) -> Void) {
    var framer = LineFramer()
    var buffer = [UInt8](repeating: 0, count: 65536)
    while case let count = recv(connection, &buffer, buffer.count, 0), count > 0 {
      framer.append(buffer[..<count])
      while let next = try? framer.next() { line(next) }
    }
  }
}
