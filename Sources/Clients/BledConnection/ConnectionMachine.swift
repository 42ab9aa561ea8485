import BledRPC
import Bluetooth
import FoundationEssentials

/// The calls of one connection to the daemon, and the meaning of its lines. It does no I/O.
///
/// | State | Input                  | Output                                                                 |
/// |-------|------------------------|------------------------------------------------------------------------|
/// | open  | begin(call)            | true; after its line is sent the answer is awaited                     |
/// | open  | line: an answer        | the completion of its call, once; `late` if the call was abandoned     |
/// | open  | line: an error, no id  | nothing; it is the reason of the end, if no other line follows         |
/// | open  | line: anything else    | the notification or the request                                        |
/// | open  | abandon(call)          | its completion, once; the answer goes to `late`                        |
/// | open  | end                    | the completions of all pending calls in their order, and the reason    |
/// | ended | anything               | nothing                                                                |
package struct ConnectionMachine<Completion> {
  /// The meaning of a line.
  package enum Message {
    /// A call was answered.
    case answer(Completion, Result<RPCMessage, BluetoothError>)
    case notification(String, RPCMessage)
    /// A request of the daemon.
    case request(RequestID, method: String, RPCMessage)
    /// An answer to no pending call, or an error without an id.
    case none
  }

  private struct Call {
    var completion: Completion?
    var late: Completion?
  }

  private enum State {
    case open
    /// With nil if this side closed the connection.
    case ended(BluetoothError?)
  }

  private static var closed: BluetoothError {
    BledError.daemonUnreachable.error("the connection to bled was closed")
  }

  private var state = State.open
  private var calls: [Int: Call] = [:]
  /// The last line, if it was an error without an id: with it the daemon refuses connections.
  private var refusal: BluetoothError?

  package init() {}

  package var isOpen: Bool {
    switch state {
    case .open: true
    case .ended: false
    }
  }

  /// The failure of calls after the end.
  package var endError: BluetoothError {
    switch state {
    case .open: Self.closed
    case .ended(let reason): reason ?? Self.closed
    }
  }

  /// The line of a call.
  /// - Throws: `BledError.invalidParameter` if the params cannot be encoded, or the line is longer than 1 MiB.
  package static func line<Method: RPCMethod>(
    _ method: Method.Type, id: Int, _ params: Method.Params
  ) throws(BluetoothError) -> Data {
    let line: Data
    do {
      line = try RPCEncoding.request(method, id: .number(id), params)
    } catch {
      throw BledError.invalidParameter.error("\(Method.name) cannot be encoded: \(error)")
    }
    // The daemon would drop it, and could not name the call.
    guard line.count - 1 <= LineFramer.defaultLimit else {
      throw BledError.invalidParameter.error(
        "\(Method.name) is a line of \(line.count) octets, which exceeds the limit of \(LineFramer.defaultLimit)")
    }
    return line
  }

  /// Registers a call before its line is sent. False: the connection has ended; complete the call with `endError`.
  package mutating func begin(_ id: Int, _ completion: Completion, late: Completion? = nil) -> Bool {
    guard isOpen else { return false }
    calls[id] = Call(completion: completion, late: late)
    return true
  }

  /// Ends the wait for a call.
  /// - Returns: its completion; nil if it is not pending.
  package mutating func abandon(_ id: Int) -> Completion? {
    guard let call = calls[id], let completion = call.completion else { return nil }
    calls[id] = call.late.map { Call(completion: nil, late: $0) }
    return completion
  }

  /// Reads a line.
  /// - Throws: `BledError.protocolViolation` if it is not a message; the connection must then be ended.
  package mutating func receive(_ line: Data) throws(BluetoothError) -> Message {
    refusal = nil
    let message: RPCMessage
    do {
      message = try RPCMessage(line: line)
    } catch {
      throw BledError.protocolViolation.error("bled sent a line that is not a message: \(error.error.message)")
    }
    switch message.kind {
    case .success(.number(let id)):
      return answered(id).map { .answer($0, .success(message)) } ?? .none
    case .failure(.number(let id)?, let error):
      return answered(id).map { .answer($0, .failure(error.bluetoothError)) } ?? .none
    case .failure(nil, let error):
      refusal = error.bluetoothError
      return .none
    case .notification(let name): return .notification(name, message)
    case .request(let id, let method): return .request(id, method: method, message)
    // The id does not belong to this side.
    case .success(.text), .failure(.text?, _): return .none
    }
  }

  private mutating func answered(_ id: Int) -> Completion? {
    guard let call = calls.removeValue(forKey: id) else { return nil }
    return call.completion ?? call.late
  }

  /// Ends the connection.
  /// - Parameter error: nil if this side closed.
  /// - Returns: the calls that were pending, in their order, and the reason; nil if it has ended already.
  package mutating func end(_ error: BluetoothError?) -> (calls: [Completion], reason: BluetoothError?)? {
    guard isOpen else { return nil }
    let reason = error.map { refusal ?? $0 }
    state = .ended(reason)
    defer { calls = [:] }
    return (calls.sorted { $0.key < $1.key }.compactMap(\.value.completion), reason)
  }
}
