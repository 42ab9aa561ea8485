/// The calls of one program's methods, in their order.
///
/// The bus limits the calls that this process may have pending (dbus-daemon(1), `max_replies_per_connection`: 128), so
/// that a program which does not answer must not use them all up.
final class ProgramCalls {
  typealias Completion = (Result<[BusValue], BusError>) -> Void

  private struct Call {
    let path: String
    let interface: String
    let method: String
    let values: [BusValue]
    let completion: Completion
  }

  /// How long a program may take for one answer.
  private static let timeout = Duration.seconds(25)
  private static let maximumPending = 8
  private static let maximumWaiting = 1024

  private let context: Context
  private let name: String
  private var pending = 0
  private var waiting: [Call] = []
  private var isClosed = false

  init(_ context: Context, to name: String) {
    self.context = context
    self.name = name
  }

  /// Calls a method. The completion is called once; with `noReply` if the program does not answer, or too many calls
  /// wait.
  func call(
    _ path: String, _ interface: String, _ method: String, _ values: [BusValue] = [],
    _ completion: @escaping Completion = { _ in }
  ) {
    let call = Call(path: path, interface: interface, method: method, values: values, completion: completion)
    guard !isClosed, waiting.count < Self.maximumWaiting else { return completion(.failure(.noReply)) }
    guard pending < Self.maximumPending else { return waiting.append(call) }
    send(call)
  }

  private func send(_ call: Call) {
    pending += 1
    // The program may look at an object that the call names.
    context.flush()
    context.bus.call(
      name, call.path, call.interface, call.method, call.values, timeout: Self.timeout
    ) { [self] result in
      pending -= 1
      call.completion(result)
      if pending < Self.maximumPending, !waiting.isEmpty { send(waiting.removeFirst()) }
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
