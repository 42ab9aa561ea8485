import BledRPC
import Bluetooth
import FoundationEssentials
import NIOConcurrencyHelpers

/// The state behind its lock, and the connection. Completions and observers are called on the connection's thread, in the
/// order in which the daemon's messages came, and outside the lock.
final class ClientCore: Sendable {
  private let state = NIOLockedValueBox(ClientState())
  private let connection: LineConnection

  init(connection: LineConnection) { self.connection = connection }

  func start() {
    connection.start(line: { self.receive($0) }, closed: { self.end($0) })
  }

  func close() {
    end(nil)
    connection.close()
  }

  func newNumber() -> Int { state.withLockedValue { $0.newNumber() } }

  /// Sends a call.
  func begin<Method: RPCMethod>(
    _ method: Method.Type, id: Int, _ params: Method.Params, late: ClientState.Completion?,
    completion: @escaping ClientState.Completion
  ) {
    let line: Data
    do {
      line = try RPCEncoding.request(method, id: .number(id), params)
    } catch {
      return completion(.failure(BledError.invalidParameter.error("\(Method.name) cannot be encoded: \(error)")))
    }
    // The daemon could not say which call it was that it dropped.
    guard line.count - 1 <= LineFramer.defaultLimit else {
      return completion(
        .failure(
          BledError.invalidParameter.error(
            "\(Method.name) would be a line of \(line.count) octets, and bled reads \(LineFramer.defaultLimit) at the most"
          )))
    }
    let begun = state.withLockedValue { $0.begin(id, completion, late: late) }
    if begun {
      connection.send(line)
    } else {
      completion(.failure(endError))
    }
  }

  /// Ends the wait for a call. False: it had ended before.
  func abandon(_ id: Int, _ error: BluetoothError) -> Bool {
    guard let completion = state.withLockedValue({ $0.abandon(id) }) else { return false }
    completion(.failure(error))
    return true
  }

  func observe(_ name: String, _ number: Int, decode: @escaping ClientState.Decoder, _ observer: ClientState.Observer) {
    let observing = state.withLockedValue { $0.observe(name, number, decode: decode, observer) }
    if !observing { observer.end(endError) }
  }

  func stopObserving(_ name: String, _ number: Int) { state.withLockedValue { $0.stopObserving(name, number) } }

  func answer(_ method: String, with answerer: ClientState.Answerer?) {
    state.withLockedValue { $0.answer(method, with: answerer) }
  }

  var isConnected: Bool { state.withLockedValue { $0.ended } == nil }

  private var endError: BluetoothError {
    let ended = state.withLockedValue { $0.ended }
    return (ended ?? nil) ?? BledError.daemonUnreachable.error("the connection to bled was closed")
  }

  private func receive(_ line: Data) {
    state.withLockedValue { $0.refusal = nil }
    let message: RPCMessage
    do {
      message = try RPCMessage(line: line)
    } catch {
      return end(BledError.protocolViolation.error("bled sent what is no message: \(error.error.message)"))
    }
    switch message.kind {
    case .success(.number(let id)):
      state.withLockedValue { $0.answer(id) }?(.success(message))
    case .failure(.number(let id)?, let error):
      state.withLockedValue { $0.answer(id) }?(.failure(error.bluetoothError))
    case .notification(let name):
      guard let observers = state.withLockedValue({ $0.observers(of: name) }) else { return }
      do {
        let value = try observers.decode(message)
        for observer in observers.list { observer.value(value) }
      } catch {
        end(BledError.protocolViolation.error("bled sent a \(name) that does not fit: \(error.message)"))
      }
    case .request(let id, let method):
      if let answerer = state.withLockedValue({ $0.answerers[method] }) {
        answerer(message, id)
      } else {
        refuse(id, RPCError(code: RPCError.methodNotFound, message: "this client does not answer \(method)"))
      }
    case .failure(nil, let error):
      state.withLockedValue { $0.refusal = error.bluetoothError }
    case .success, .failure:
      break  // Not an id of ours.
    }
  }

  /// Answers a call of the daemon.
  func answer(_ id: RequestID, _ result: some RPCPayload) {
    guard let line = try? RPCEncoding.success(id: id, result) else {
      return refuse(id, RPCError(code: RPCError.operationFailed, message: "the answer cannot be encoded"))
    }
    connection.send(line)
  }

  /// Refuses a call of the daemon.
  func refuse(_ id: RequestID, _ error: RPCError) {
    // An RPCError of ours is text and numbers: its encoding does not fail.
    if let line = try? RPCEncoding.failure(id: id, error) { connection.send(line) }
  }

  private func end(_ error: BluetoothError?) {
    let (calls, observers, reason) = state.withLockedValue { $0.end(error) }
    let failure = reason ?? BledError.daemonUnreachable.error("the connection to bled was closed")
    for completion in calls { completion(.failure(failure)) }
    for observer in observers { observer.end(reason) }
    if error != nil { connection.close() }
  }
}
