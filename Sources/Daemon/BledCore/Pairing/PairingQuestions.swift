import Adapter
import BledRPC
import Bluetooth

/// The device and adapter of a pairing: at most one at a time.
struct PairingKey: Hashable {
  let slot: AdapterSlot
  let peripheral: Peripheral
}

/// The questions to agents while devices pair: one at a time per pairing.
///
/// | A question is …              | Then                                                                         |
/// |------------------------------|------------------------------------------------------------------------------|
/// | asked                        | the first agent is called                                                    |
/// | answered with an error       | the next agent is called; after the last one the answer is no                |
/// | answered                     | that is the answer                                                           |
/// | not answered within 8 s      | the next agent is called, too: the first of them to answer decides           |
/// | not answered within 25 s     | the answer is no                                                             |
/// | asked of one that ends       | the answer is no, unless others have been asked: no other agent saw the question |
/// | followed by another one      | it is forgotten                                                              |
final class PairingQuestions {
  /// The time for all questions of a pairing: SMP gives up after 30 s (Core 5.4, Vol 3, Part H, 3.4).
  static let timeout = Duration.seconds(25)
  /// The time before the next agent is asked as well.
  static let agentTimeout = Duration.seconds(8)

  private let scheduler: any Scheduler
  private var open: [PairingKey: OpenQuestion] = [:]
  private var lastNumber = 0
  /// The sessions with a question or a display in the present pairing.
  private var involved: [PairingKey: Set<Session>] = [:]

  private struct OpenQuestion {
    /// An answer to an earlier question is too late.
    let number: Int
    let question: PairingQuestion
    let device: PairingDevice
    let deadline: Instant
    /// Rings at the deadline.
    let alarm: any ScheduledWork
    let answer: (PairingAnswer, Session?) -> Void
    /// The agents after the asked ones.
    var candidates: ArraySlice<Session>
    /// The asked sessions, with their calls.
    var asked: [(session: Session, call: OutgoingCalls.Number)] = []
    /// Fires when the next agent is to be asked as well.
    var next: (any ScheduledWork)?
  }

  init(scheduler: any Scheduler) { self.scheduler = scheduler }

  /// Asks the agents in their order.
  /// - Parameter answer: called once, unless the question is forgotten before, with the answer and its agent.
  func ask(
    _ candidates: [Session], _ question: PairingQuestion, _ key: PairingKey, _ device: PairingDevice,
    _ answer: @escaping (PairingAnswer, Session?) -> Void
  ) {
    forget(key)
    lastNumber += 1
    let alarm = scheduler.schedule(after: Self.timeout) { [weak self] in self?.finish(key, .refuse, by: nil) }
    open[key] = OpenQuestion(
      number: lastNumber, question: question, device: device, deadline: scheduler.now.advanced(by: Self.timeout),
      alarm: alarm, answer: answer, candidates: candidates[...])
    askNext(key)
  }

  /// Shows a passkey to an agent.
  func show(_ passkey: UInt32, entered: Int, _ key: PairingKey, _ device: PairingDevice, to session: Session) {
    involved[key, default: []].insert(session)
    session.send(PairingShowPasskey.self, .init(device: device, passkey: Passkey.digits(passkey), entered: entered))
  }

  /// A pairing's question is void.
  func forget(_ key: PairingKey) {
    guard let question = open.removeValue(forKey: key) else { return }
    question.alarm.cancel()
    question.next?.cancel()
    for asked in question.asked { asked.session.calls.forget(asked.call) }
  }

  /// A pairing has ended: notifies the agents involved in it, or the given ones if there were none.
  func end(_ key: PairingKey, _ device: PairingDevice, _ error: BluetoothError?, orTell others: [Session]) {
    forget(key)
    let sessions = involved.removeValue(forKey: key) ?? Set(others)
    let params = PairingEnded.Params(device: device, reason: error.map { RPCError($0) })
    for session in sessions.sorted(by: { $0.id < $1.id }) { session.send(PairingEnded.self, params) }
  }

  /// A session has ended, or its program has disconnected.
  func ended(_ session: Session) {
    for (key, question) in open {
      guard let index = question.asked.firstIndex(where: { $0.session === session }) else { continue }
      open[key]?.asked.remove(at: index)
      if open[key]?.asked.isEmpty == true { finish(key, .refuse, by: nil) }
    }
    for key in involved.keys { involved[key]?.remove(session) }
  }

  private func askNext(_ key: PairingKey) {
    guard let question = open[key] else { return }
    guard let session = question.candidates.first(where: \.isPresent) else {
      if question.asked.isEmpty { finish(key, .refuse, by: nil) }
      return
    }
    open[key]?.candidates = question.candidates.drop { $0 !== session }.dropFirst()
    involved[key, default: []].insert(session)
    let answered = { [weak self] (given: PairingAnswer?) in
      guard let self, open[key]?.number == question.number else { return }
      open[key]?.asked.removeAll { $0.session === session }
      if let given { finish(key, given, by: session) } else { askNext(key) }
    }
    let call = self.call(session, question, answered)
    open[key]?.asked.append((session, call))
    open[key]?.next?.cancel()
    open[key]?.next = scheduler.schedule(after: Self.agentTimeout) { [weak self] in self?.askNext(key) }
  }

  private func call(
    _ session: Session, _ question: OpenQuestion, _ answered: @escaping (PairingAnswer?) -> Void
  ) -> OutgoingCalls.Number {
    let left = scheduler.now.duration(to: question.deadline).inSeconds
    let seconds = max(0, Int(left.rounded(.up)))
    if question.question == .passkey {
      return session.call(PairingEnterPasskey.self, .init(device: question.device, seconds: seconds)) { result in
        answered(result.map { Passkey.number($0.passkey).map { .passkey($0) } ?? .refuse }.success)
      }
    }
    var digits: String?
    if case .comparison(let value) = question.question { digits = Passkey.digits(value) }
    let params = PairingConfirm.Params(device: question.device, number: digits, seconds: seconds)
    return session.call(PairingConfirm.self, params) { result in
      answered(result.map { $0.accept ? .accept : .refuse }.success)
    }
  }

  private func finish(_ key: PairingKey, _ answer: PairingAnswer, by session: Session?) {
    guard let question = open[key] else { return }
    forget(key)
    question.answer(answer, session)
  }
}

extension Result {
  fileprivate var success: Success? { try? get() }
}
