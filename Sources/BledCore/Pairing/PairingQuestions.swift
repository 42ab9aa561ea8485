import Adapter
import BledRPC
import Bluetooth

/// The questions that sessions are asked while devices pair: one at a time for each device.
///
/// | A question is …          | Then                                                               |
/// |--------------------------|--------------------------------------------------------------------|
/// | asked                    | the first candidate is called                                      |
/// | answered with an error   | the next candidate is called; after the last one the answer is no  |
/// | answered                 | that is the answer                                                 |
/// | not answered in time     | the answer is no                                                   |
/// | asked of one who ends    | the answer is no: nobody else has seen what that session was shown |
/// | followed by another one  | it is forgotten                                                    |
final class PairingQuestions {
  /// How long the questions of one pairing may take: SMP gives up after 30 s (Core 5.4, Vol 3, Part H, 3.4).
  static let patience = Duration.seconds(25)

  private let scheduler: any Scheduler
  private var open: [Peripheral: OpenQuestion] = [:]
  private var lastNumber = 0
  /// The sessions that were asked or shown something for the pairing that goes on.
  private var involved: [Peripheral: Set<Session>] = [:]

  private struct OpenQuestion {
    /// An answer to an earlier one comes too late.
    let number: Int
    let question: PairingQuestion
    let device: PairingDevice
    /// Rings when nobody has answered in time.
    let alarm: any ScheduledWork
    let answer: (PairingAnswer) -> Void
    /// Who comes after the session that is asked.
    var candidates: ArraySlice<Session>
    /// The session that is asked, and by which call.
    var asked: (session: Session, call: OutgoingCalls.Number)?
  }

  init(scheduler: any Scheduler) { self.scheduler = scheduler }

  /// Asks the sessions in their order.
  /// - Parameter answer: called once, unless the question is forgotten before.
  func ask(
    _ candidates: [Session], _ question: PairingQuestion, _ peripheral: Peripheral, _ device: PairingDevice,
    _ answer: @escaping (PairingAnswer) -> Void
  ) {
    forget(peripheral)
    lastNumber += 1
    let alarm = scheduler.schedule(after: Self.patience) { [weak self] in self?.finish(peripheral, .refuse) }
    open[peripheral] = OpenQuestion(
      number: lastNumber, question: question, device: device, alarm: alarm, answer: answer, candidates: candidates[...])
    askNext(peripheral)
  }

  /// Shows a passkey to a session.
  func show(_ passkey: UInt32, entered: Int, _ peripheral: Peripheral, _ device: PairingDevice, to session: Session) {
    involved[peripheral, default: []].insert(session)
    session.send(PairingShowPasskey.self, .init(device: device, passkey: Passkey.digits(passkey), entered: entered))
  }

  /// The question about a device has no interest any more.
  func forget(_ peripheral: Peripheral) {
    guard let question = open.removeValue(forKey: peripheral) else { return }
    question.alarm.cancel()
    if let asked = question.asked { asked.session.calls.forget(asked.call) }
  }

  /// A pairing has ended: those who were asked or shown something for it are told, or the others if nobody was.
  func end(_ peripheral: Peripheral, _ device: PairingDevice, _ error: BluetoothError?, orTell others: [Session]) {
    forget(peripheral)
    let sessions = involved.removeValue(forKey: peripheral) ?? Set(others)
    let params = PairingEnded.Params(device: device, reason: error.map { RPCError($0) })
    for session in sessions.sorted(by: { $0.id < $1.id }) { session.send(PairingEnded.self, params) }
  }

  /// The link to a device has ended; who waited for the end of its pairing is told by `end` before.
  func linkEnded(_ peripheral: Peripheral) {
    involved[peripheral] = nil
    forget(peripheral)
  }

  func ended(_ session: Session) {
    for (peripheral, question) in open where question.asked?.session === session { finish(peripheral, .refuse) }
    for peripheral in involved.keys { involved[peripheral]?.remove(session) }
  }

  private func askNext(_ peripheral: Peripheral) {
    guard let question = open[peripheral] else { return }
    guard let session = question.candidates.first(where: \.isPresent) else { return finish(peripheral, .refuse) }
    open[peripheral]?.candidates = question.candidates.drop { $0 !== session }.dropFirst()
    involved[peripheral, default: []].insert(session)
    let taken = { [weak self] (given: PairingAnswer?) in
      guard let self, open[peripheral]?.number == question.number else { return }
      open[peripheral]?.asked = nil
      if let given { finish(peripheral, given) } else { askNext(peripheral) }
    }
    let seconds = Int(Self.patience.components.seconds)
    let call: OutgoingCalls.Number
    if question.question == .passkey {
      call = session.call(PairingEnterPasskey.self, .init(device: question.device, seconds: seconds)) { result in
        taken(result.map { Passkey.number($0.passkey).map { .passkey($0) } ?? .refuse }.success)
      }
    } else {
      var digits: String?
      if case .comparison(let value) = question.question { digits = Passkey.digits(value) }
      let params = PairingConfirm.Params(device: question.device, number: digits, seconds: seconds)
      call = session.call(PairingConfirm.self, params) { result in
        taken(result.map { $0.accept ? .accept : .refuse }.success)
      }
    }
    open[peripheral]?.asked = (session, call)
  }

  private func finish(_ peripheral: Peripheral, _ answer: PairingAnswer) {
    guard let question = open[peripheral] else { return }
    forget(peripheral)
    question.answer(answer)
  }
}

extension Result {
  fileprivate var success: Success? { try? get() }
}
