import BledRPC
import Bluetooth
import Foundation
import Glibc

/// A daemon played by a test, for one connection: it knows one device, answers every call at once unless the test holds
/// the answers, and sends the notifications of the test in exactly its order. The environment of this process names its
/// socket.
final class PlayedDaemon: @unchecked Sendable {
  static let device = UUID()
  private let path = "/tmp/bled-played-\(UUID().uuidString.prefix(8)).sock"
  private let listener: Int32
  private let connection = Locked<Int32>(-1)
  private let script = Locked(Script())

  private struct Script {
    /// The names of the received calls.
    var calls: [String] = []
    /// The name of the calls that are not answered.
    var held: String?
    /// Their answers.
    var answers: [Data] = []
    /// True if another program is connected to the device.
    var isLinked = false
  }

  struct Failure: Error, CustomStringConvertible {
    var description: String
  }

  init(adapters: [String] = ["hci0"]) throws {
    listener = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
    let bound = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(listener, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    guard bound == 0, listen(listener, 1) == 0 else { throw Failure(description: "cannot listen: \(errno)") }
    setenv("BLED_SOCKET", path, 1)
    Thread.detachNewThread { [listener, connection, script] in
      let accepted = accept(listener, nil, nil)
      connection.withLock { $0 = accepted }
      try? Self.serve(accepted, adapters, connection, script)
    }
  }

  deinit {
    connection.withLock { _ = shutdown($0, Int32(SHUT_RDWR)) }
    Glibc.close(listener)
    unlink(path)
  }

  /// The names of the received calls.
  var calls: [String] { script.withLock { $0.calls } }

  /// Another program connects to the device.
  func link() { script.withLock { $0.isLinked = true } }

  /// Calls of this method are not answered from now on.
  func hold(_ name: String) { script.withLock { $0.held = name } }

  /// Answers the calls that were held.
  func release() throws {
    let answers = script.withLock { script in
      defer { (script.held, script.answers) = (nil, []) }
      return script.answers
    }
    for answer in answers { try connection.withLock { try Self.send(answer, to: $0) } }
  }

  /// An adapter's description.
  static func adapter(_ name: String, _ state: AdapterCondition) -> AdapterDescription {
    AdapterDescription(
      adapter: name, kind: Word(.kernel), address: "00:1B:DC:00:00:01", addressType: Word(.public), name: name,
      state: Word(state), problem: nil, scanning: false, advertising: 0, links: 0)
  }

  /// The link to the device.
  static let link = PeripheralConnect.Result(
    peripheral: device.uuidString, address: "C0:DE:00:00:00:01", addressType: Word(.random), adapter: "hci0", mtu: 23,
    attempts: 1)

  /// Sends a notification.
  func notify<Notification: RPCNotification>(_ type: Notification.Type, _ params: Notification.Params) throws {
    let line = try RPCEncoding.notification(type, params)
    try connection.withLock { try Self.send(line, to: $0) }
  }

  private static func serve(
    _ descriptor: Int32, _ adapters: [String], _ connection: Locked<Int32>, _ script: Locked<Script>
  ) throws {
    var framer = LineFramer()
    var buffer = [UInt8](repeating: 0, count: 65536)
    defer {
      connection.withLock { $0 = -1 }
      Glibc.close(descriptor)
    }
    while true {
      let count = recv(descriptor, &buffer, buffer.count, 0)
      guard count > 0 else { return }
      framer.append(buffer[..<count])
      while let line = try framer.next() {
        guard case .request(let id, let name) = try RPCMessage(line: line).kind else { continue }
        let answer = try answer(to: name, id, adapters, isLinked: script.withLock { $0.isLinked })
        let isHeld = script.withLock { script in
          script.calls.append(name)
          guard script.held == name else { return false }
          script.answers.append(answer)
          return true
        }
        if !isHeld { try connection.withLock { _ in try send(answer, to: descriptor) } }
      }
    }
  }

  private static func answer(
    to name: String, _ id: RequestID, _ adapters: [String], isLinked: Bool
  ) throws -> Data {
    switch name {
    case SessionOpen.name:
      let all = adapters.map { adapter($0, .on) }
      return try RPCEncoding.success(
        id: id, SessionOpen.Result(session: 1, daemon: "played 1", protocol: 1, adapters: all))
    case PeripheralList.name:
      let entry = PeripheralList.Entry(
        peripheral: device.uuidString, address: link.address, addressType: link.addressType, adapter: link.adapter,
        name: "Played", rssi: nil, state: Word(isLinked ? .connected : .disconnected), mine: false, mtu: nil)
      return try RPCEncoding.success(id: id, PeripheralList.Result(peripherals: [entry]))
    case PeripheralConnect.name: return try RPCEncoding.success(id: id, link)
    case GATTDiscoverServices.name:
      let service = ServiceDescription(handle: 1, end: 3, uuid: 0x180D, primary: true)
      return try RPCEncoding.success(id: id, GATTDiscoverServices.Result(services: [service]))
    default: return try RPCEncoding.success(id: id, Empty())
    }
  }

  private static func send(_ octets: Data, to descriptor: Int32) throws {
    var rest = octets
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
      guard count > 0 else { throw Failure(description: "the program has closed its connection") }
      rest = Data(rest.dropFirst(count))
    }
  }
}

/// A value that several threads use.
private final class Locked<Value>: @unchecked Sendable {
  private let lock = NSLock()
  private var value: Value
  init(_ value: Value) { self.value = value }
  func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
    try lock.withLock { try body(&value) }
  }
}
