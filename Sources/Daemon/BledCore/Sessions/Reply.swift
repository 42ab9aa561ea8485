import BledRPC
import Bluetooth

/// The pending answer to a client. It is given once; later ones are ignored, as is the answer on an ended connection.
final class Reply<Result: RPCPayload>: OpenReply {
  private weak var connection: SessionConnection?
  private let id: RequestID?
  private var number = 0
  /// True until it is given.
  private(set) var isOpen = true
  private let measure: CallMetrics?
  private let began: Instant
  private let isRead: Bool
  /// Called with the outcome if the program disconnected before, and its session was preserved.
  var afterwards: ((Swift.Result<Result, RPCError>) -> Void)?

  /// - Parameters:
  ///   - measure: records the call's duration.
  ///   - isRead: true if the call reads a device's value.
  init(connection: SessionConnection, id: RequestID?, measuredBy measure: CallMetrics, isRead: Bool) {
    self.connection = connection
    self.id = id
    self.measure = measure
    self.isRead = isRead
    began = measure.now
    number = connection.nextReplyNumber()
    connection.openReplies[number] = self
  }

  /// A reply without a client: the program disconnected before this daemon was started.
  init() {
    id = nil
    measure = nil
    began = .zero
    isRead = false
  }

  /// True if the program is connected and waits for it.
  var isWanted: Bool { isOpen && connection != nil }

  /// Answers with a result.
  /// - Parameter isFirst: true to send it before the program's kept lines.
  func succeed(_ result: Result, isFirst: Bool = false) {
    guard let connection = close(.success(result)) else { return }
    if let id { connection.answer(id, result, isFirst: isFirst) } else { connection.endedUnanswered() }
  }

  /// Answers with a result and a descriptor, see `Session.admitDescriptor`. Without a receiver the descriptor is
  /// closed.
  func succeed(_ result: Result, with descriptor: PassedDescriptor) {
    guard let connection = close(.success(result)) else { return }
    if let id { connection.answer(id, result, with: descriptor) } else { connection.endedUnanswered() }
  }

  /// Answers with an error in the field's own terms.
  func fail(_ error: BluetoothError) { fail(RPCError(error)) }

  /// Answers with an error.
  func fail(_ error: RPCError) {
    guard let connection = close(.failure(error)) else { return }
    connection.session.costs.requestsFailed += 1
    if let id { connection.refuse(id, error) } else { connection.endedUnanswered() }
  }

  /// Answers with a result or an error.
  func complete(_ result: Swift.Result<Result, BluetoothError>) {
    switch result {
    case .success(let value): succeed(value)
    case .failure(let error): fail(error)
    }
  }

  /// The program has disconnected: the answer is no longer wanted.
  func abandon() { connection = nil }

  private func close(_ outcome: Swift.Result<Result, RPCError>) -> SessionConnection? {
    guard isOpen else { return nil }
    isOpen = false
    guard let connection else {
      afterwards?(outcome)
      return nil
    }
    connection.openReplies[number] = nil
    if let measure {
      let hasFailed = if case .failure = outcome { true } else { false }
      measure.answered(since: began, isRead: isRead, hasFailed: hasFailed)
    }
    return connection
  }
}

/// A pending reply of any type.
protocol OpenReply: AnyObject {
  func fail(_ error: BluetoothError)
  func abandon()
}

/// The calls to a client that await its answer.
///
/// | Call    | Input                        | Effect                               |
/// |---------|------------------------------|--------------------------------------|
/// | waiting | its answer or refusal: taken | completion by the taker, once → gone |
/// | waiting | forgotten                    | → gone; a later answer is ignored    |
/// | gone, or of no interest | an answer    | ignored                              |
struct OutgoingCalls {
  typealias Number = Int

  struct Waiting {
    let succeed: (RPCMessage) -> Void
    let fail: (RPCError) -> Void
  }

  private var last: Number = 0
  private var waiting: [Number: Waiting] = [:]

  /// Numbers a call. Its completion is called once, unless the call is forgotten.
  mutating func begin<Value: RPCPayload>(_ completion: @escaping (Result<Value, RPCError>) -> Void) -> Number {
    last += 1
    waiting[last] = Waiting(
      succeed: { message in completion(Result { () throws(RPCError) in try message.result(Value.self) }) },
      fail: { completion(.failure($0)) })
    return last
  }

  /// Numbers a call with an answer of no interest.
  mutating func beginUnanswered() -> Number {
    last += 1
    return last
  }

  /// Abandons a call.
  mutating func forget(_ number: Number) { waiting[number] = nil }

  /// Abandons all calls.
  mutating func drop() { waiting = [:] }

  /// The call answered by `id`. To be completed after the access to this value: a completion may begin another call.
  mutating func remove(_ id: RequestID) -> Waiting? {
    guard case .number(let number) = id else { return nil }
    return waiting.removeValue(forKey: number)
  }
}
