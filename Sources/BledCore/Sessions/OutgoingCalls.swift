import BledRPC

/// The calls to a client that wait for its answer.
///
/// | Call    | Input                        | What happens                         |
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

  /// Numbers a call whose answer is of no interest.
  mutating func beginUnanswered() -> Number {
    last += 1
    return last
  }

  /// Gives up on a call.
  mutating func forget(_ number: Number) { waiting[number] = nil }

  /// Gives up on all calls.
  mutating func drop() { waiting = [:] }

  /// The call that this answers. To be completed when the access to this value is over: a completion may begin another call.
  mutating func take(_ id: RequestID) -> Waiting? {
    guard case .number(let number) = id else { return nil }
    return waiting.removeValue(forKey: number)
  }
}
