/// The calls of one program's methods, in their order. The programs of one user share the limit of the calls that are
/// pending.
final class ProgramCalls {
  typealias Completion = (Result<[BusValue], BusError>) -> Void

  private struct Call {
    let path: String
    let interface: String
    let method: String
    let values: [BusValue]
    let completion: Completion
  }

  /// Timeout for a program's answer.
  private static let timeout = Duration.seconds(25)
  private static let maximumPending = 8
  private static let maximumWaiting = 1024

  private let context: Context
  private let name: String
  private let user: UserCalls
  private var pending = 0
  private var waiting: [Call] = []
  private var isClosed = false
  /// The calls that were dropped since there was room.
  private var dropped = 0

  init(_ context: Context, to name: String, of user: UserCalls) {
    self.context = context
    self.name = name
    self.user = user
  }

  /// Calls a method. The completion is called once; with `noReply` if the program does not answer, or too many calls
  /// wait.
  func call(
    _ path: String, _ interface: String, _ method: String, _ values: [BusValue] = [],
    _ completion: @escaping Completion = { _ in }
  ) {
    let call = Call(path: path, interface: interface, method: method, values: values, completion: completion)
    guard !isClosed else { return completion(.failure(.noReply)) }
    guard waiting.count < Self.maximumWaiting else {
      // Among them may be values that a device has written without waiting for an answer.
      if dropped == 0 { context.say("the program \(name) does not answer its calls: further ones are dropped") }
      dropped += 1
      return completion(.failure(.noReply))
    }
    waiting.append(call)
    sendWaiting()
  }

  /// Sends the waiting calls, as long as there is room.
  func sendWaiting() {
    while pending < Self.maximumPending, !waiting.isEmpty, user.claim(self) { send(waiting.removeFirst()) }
    if waiting.isEmpty, dropped > 0 {
      context.say("\(dropped) calls of the program \(name) were dropped")
      dropped = 0
    }
  }

  private func send(_ call: Call) {
    pending += 1
    // The program may read an object that the call names.
    context.flush()
    context.bus.call(
      name, call.path, call.interface, call.method, call.values, timeout: Self.timeout
    ) { [self] result in
      pending -= 1
      user.release()
      call.completion(result)
      sendWaiting()
      context.flush()
    }
  }

  /// The program has left the bus.
  func close() {
    isClosed = true
    let calls = waiting
    waiting = []
    for call in calls { call.completion(.failure(.noReply)) }
  }
}
