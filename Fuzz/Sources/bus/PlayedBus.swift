import Adapter
import BlueZ
import Bluetooth
import Fuzzing

/// A bus whose programs do what the input says.
final class PlayedBus: Bus {
  static let programs = [":1.1", ":1.2", ":1.3"]

  private struct Question {
    let destination: String
    let method: String
    let completion: (Result<[BusValue], BusError>) -> Void
  }

  private let scheduler: VirtualScheduler
  private let isPermitted: Bool
  private var lastCall: UInt64 = 0
  /// The calls that are not answered, as "interface.Member".
  private(set) var open: [UInt64: String] = [:]
  private(set) var watched: Set<String> = []
  private var lastQuestion = 0
  private var questions: [Int: Question] = [:]

  init(_ scheduler: VirtualScheduler, isPermitted: Bool) {
    self.scheduler = scheduler
    self.isPermitted = isPermitted
  }

  var isSettled: Bool { open.isEmpty }

  /// A program calls.
  func call(_ call: Generator.Call, of program: String) -> BusCall {
    lastCall += 1
    open[lastCall] = "\(call.interface ?? "").\(call.member)"
    return BusCall(
      number: lastCall, sender: program, path: call.path, interface: call.interface, member: call.member,
      arguments: call.arguments)
  }

  func reply(_ call: BusCall, _ values: [BusValue]) {
    for value in values { check(value) }
    end(call)
  }

  func fail(_ call: BusCall, _ error: BusError) {
    invariant(!error.name.isEmpty, "an error without a name")
    end(call)
  }

  private func end(_ call: BusCall) {
    invariant(open.removeValue(forKey: call.number) != nil, "\(call.member) is answered twice")
  }

  func signal(_ path: String, _ interface: String, _ member: String, _ values: [BusValue], to destination: String?) {
    for value in values { check(value) }
  }

  /// Sent values are of the types that they say.
  private func check(_ value: BusValue) {
    switch value {
    case .array(let element, let values):
      invariant(values.allSatisfy { $0.type == element }, "an array of \(element) has others")
      for value in values { check(value) }
    case .dictionary(let key, let type, let entries):
      invariant(entries.allSatisfy { $0.key.type == key && $0.value.type == type }, "a dictionary has others")
      for entry in entries { check(entry.value) }
    case .structure(let members): for value in members { check(value) }
    case .variant(let inner): check(inner)
    case .path(let path): invariant(path.utf8.first == UInt8(ascii: "/"), "no path: \(path)")
    default: break
    }
  }

  func watch(_ client: String, _ isOn: Bool) { if isOn { watched.insert(client) } else { watched.remove(client) } }

  func call(
    _ destination: String, _ path: String, _ interface: String, _ member: String, _ values: [BusValue],
    timeout: Duration, completion: @escaping (Result<[BusValue], BusError>) -> Void
  ) {
    for value in values { check(value) }
    lastQuestion += 1
    let number = lastQuestion
    questions[number] = Question(destination: destination, method: member, completion: completion)
    if member == "GetConnectionCredentials" {
      let user = BusValue.options([
        ("UnixUserID", .uint32(isPermitted ? 0 : 5)), ("ProcessID", .uint32(destination == Self.programs[0] ? 1 : 2)),
      ])
      _ = scheduler.schedule(after: .zero) { [weak self] in self?.end(number, .success([user])) }
    } else {
      _ = scheduler.schedule(after: timeout) { [weak self] in self?.end(number, .failure(.noReply)) }
    }
  }

  private func end(_ question: Int, _ result: Result<[BusValue], BusError>) {
    questions.removeValue(forKey: question)?.completion(result)
  }

  /// A program answers the call that has waited the longest.
  func answer(_ input: inout FuzzInput) {
    guard let (number, question) = questions.min(by: { $0.key < $1.key }) else { return }
    end(number, Generator.answer(question.method, &input))
  }

  /// A program has left: what it was asked has failed.
  func leave(_ program: String) {
    for (number, question) in questions.sorted(by: { $0.key < $1.key }) where question.destination == program {
      end(number, .failure(.noReply))
    }
    watched.remove(program)
  }
}

/// No program passes a socket.
final class NoSockets: PacketSocketOpener {
  func open(_ descriptor: BusDescriptor, _ happened: @escaping (PacketSocketEvent) -> Void) -> (any PacketSocket)? {
    nil
  }
}
