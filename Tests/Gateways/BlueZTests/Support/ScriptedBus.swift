@testable import BlueZ

/// A bus with programs played by a test. `deliver` returns answers later, in order.
final class ScriptedBus: Bus {
  /// A call of a program's method.
  struct Call {
    let destination: String
    let path: String
    let interface: String
    let method: String
    let values: [BusValue]
    let completion: (Result<[BusValue], BusError>) -> Void
  }

  /// The answers to the programs' calls, by the number of the call.
  private(set) var answers: [UInt64: Result<[BusValue], BusError>] = [:]
  private(set) var signals: [ObjectTree.Signal] = []
  /// The number of signals before the reply to a call.
  private(set) var signalsBefore: [UInt64: Int] = [:]
  /// The signals to one program alone.
  private(set) var told: [(program: String, signal: ObjectTree.Signal)] = []
  private(set) var watched: Set<String> = []
  /// All calls of programs' methods, as "Method path".
  private(set) var log: [String] = []
  /// The calls for the test to answer.
  private(set) var calls: [Call] = []
  /// Answers calls by themselves; nil: the test does it.
  var answer: (Call) -> Result<[BusValue], BusError>? = { _ in nil }
  /// The users of programs that are not user 1000's.
  var users: [String: UInt32] = [:]
  /// The process of each program; the end of its name if missing.
  var processes: [String: UInt32] = [:]
  private var due: [() -> Void] = []

  func reply(_ call: BusCall, _ values: [BusValue]) {
    answers[call.number] = .success(values)
    signalsBefore[call.number] = signals.count
  }

  func fail(_ call: BusCall, _ error: BusError) { answers[call.number] = .failure(error) }

  func signal(
    _ path: String, _ interface: String, _ member: String, _ values: [BusValue], to destination: String?
  ) {
    guard let interface = Interface(rawValue: interface) else { return }
    let signal = ObjectTree.Signal(path: path, interface: interface, member: member, arguments: values)
    if let destination { told.append((destination, signal)) } else { signals.append(signal) }
  }

  func watch(_ client: String, _ isOn: Bool) {
    if isOn { watched.insert(client) } else { watched.remove(client) }
  }

  func call(
    _ destination: String, _ path: String, _ interface: String, _ member: String, _ values: [BusValue],
    timeout: Duration, completion: @escaping (Result<[BusValue], BusError>) -> Void
  ) {
    if member == "GetConnectionCredentials" {
      let number = values.first?.string.flatMap { users[$0] } ?? 1000
      let name = values.first?.string ?? ""
      let process = processes[name] ?? name.split(separator: ".").last.flatMap { UInt32($0) } ?? 7
      let user = BusValue.options([("UnixUserID", .uint32(number)), ("ProcessID", .uint32(process))])
      return due.append { completion(.success([user])) }
    }
    let call = Call(
      destination: destination, path: path, interface: interface, method: member, values: values,
      completion: completion)
    log.append("\(member) \(path)")
    if let answer = answer(call) {
      due.append { completion(answer) }
    } else {
      calls.append(call)
    }
  }

  /// Takes the first waiting call of a method.
  func take(_ method: String) -> Call? {
    calls.firstIndex { $0.method == method }.map { calls.remove(at: $0) }
  }

  /// Gives out one answer.
  func deliver() -> Bool {
    guard !due.isEmpty else { return false }
    due.removeFirst()()
    return true
  }
}
