import ATT
import BledRPC
import Bluetooth
import GATT

/// Our server role on one link: the device's questions to sessions, and the sessions serving it.
///
/// A question is a request from the device to a session, on any of the link's bearers:
///
/// | State  | Input                                   | Effect                                                      |
/// |--------|-----------------------------------------|-------------------------------------------------------------|
/// | idle   | the device reads or writes              | the session is called, if its program is connected → asking |
/// | asking | the session answers                     | the device gets the answer → idle                           |
/// | asking | the program goes away                   | the question waits for it, or for the end of its time       |
/// | asking | the program is back                     | the session is called                                       |
/// | asking | 25 s, the session's end, the link's end | the device is refused → idle                                |
final class ServerLink: ServerRole {
  unowned let hub: LinkHub
  /// The values for the device.
  let values: SubscriberValues
  private unowned let broker: ServerBroker
  /// The sessions serving the device.
  private(set) var served: Set<Session> = []
  /// The session whose attribute was last refused to the device for lack of security.
  private(set) weak var refused: Session?
  /// The link parameters wished by sessions that do not use the device themselves.
  var wishes: [Session: CheckedWish] = [:]
  /// The device's open requests: each bearer has one at a time (Core 5.4, Vol 3, Part F, 3.3.2).
  private var questions: [Question] = []
  /// The characteristics with a socket for this device's values, by handle.
  private var acquired: [UInt16: ServedCharacteristic] = [:]

  /// A device's request to a session.
  private struct Question {
    enum Call {
      case read(ServerRead.Params)
      case write(ServerWrite.Params)
    }
    let token: QuestionToken
    let session: Session
    /// Incremented for each request, on all links.
    let number: Int
    let call: Call
    /// The number of the call to the session; nil while its program is disconnected.
    var callNumber: OutgoingCalls.Number?
  }

  init(on hub: LinkHub, broker: ServerBroker) {
    self.hub = hub
    self.broker = broker
    values = SubscriberValues(on: hub, broker: broker)
  }

  func began() { broker.began(self) }

  // MARK: Requests from the device

  func asked(_ read: ReadQuestion) {
    guard let session = broker.session(of: read.owner) else {
      return hub.answerRead(read.token, .failure(.unlikelyError))
    }
    serves(session)
    let params = ServerRead.Params(
      central: hub.peripheral.id, handle: read.handle, offset: Int(read.offset), mtu: hub.mtu)
    ask(session, .read(params), read.token)
  }

  func asked(_ write: WriteQuestion) {
    guard let session = broker.session(of: write.owner) else {
      if let token = write.token { hub.answerWrite(token, .unlikelyError) }
      return
    }
    serves(session)
    if let handle = write.writes.first?.handle, acquired[handle]?.receive(write) == true { return }
    let params = ServerWrite.Params(
      central: hub.peripheral.id,
      writes: write.writes.map { .init(handle: $0.handle, offset: Int($0.offset), value: HexBytes($0.value)) },
      withoutResponse: write.token == nil ? true : nil, mtu: hub.mtu, time: hub.scheduler.secondsSinceEpoch)
    if let token = write.token {
      ask(session, .write(params), token)
    } else {
      hand(params, to: session)
    }
  }

  /// The device no longer waits for an answer.
  func questionCancelled(_ token: QuestionToken) {
    for characteristic in acquired.values { characteristic.questionCancelled(token) }
    guard let index = questions.firstIndex(where: { $0.token == token }) else { return }
    let question = questions.remove(at: index)
    if let number = question.callNumber { question.session.calls.forget(number) }
  }

  private func ask(_ session: Session, _ call: Question.Call, _ token: QuestionToken) {
    let question = Question(token: token, session: session, number: broker.nextQuestion(), call: call)
    questions.append(question)
    if session.isPresent { callSession(question) } else { session.wakeProgram() }
  }

  private func callSession(_ question: Question) {
    let token = question.token
    let session = question.session
    let number =
      switch question.call {
      case .read(let params):
        session.call(ServerRead.self, params) { [weak self] answer in
          guard let self else { return }
          answered(token)
          hub.answerRead(token, value(of: answer, to: params, of: session))
        }
      case .write(let params):
        session.call(ServerWrite.self, params) { [weak self] answer in
          guard let self else { return }
          answered(token)
          switch answer {
          case .success: hub.answerWrite(token, nil)
          case .failure(let error): hub.answerWrite(token, error.attErrorCode)
          }
        }
      }
    if let index = questions.firstIndex(where: { $0.token == token }) { questions[index].callNumber = number }
  }

  private func answered(_ token: QuestionToken) { questions.removeAll { $0.token == token } }

  /// The response to the device. A value that is too long is refused: the device could get only its beginning, without
  /// notice of the rest.
  private func value(
    of answer: Result<ServerRead.Result, RPCError>, to params: ServerRead.Params, of session: Session
  ) -> Result<[UInt8], ATTErrorCode> {
    let length = params.offset + ((try? answer.get())?.value.octets.count ?? 0)
    guard length > Attribute.longestValue else { return answer.map(\.value.octets).mapError(\.attErrorCode) }
    broker.logLongAnswer(of: session, handle: params.handle, length: length)
    return .failure(.unlikelyError)
  }

  /// The device changed its subscription to a value.
  func subscriptionChanged(_ handle: UInt16, _ configuration: ClientConfiguration) {
    if configuration.isEmpty, hub.isOpen, let acquired = acquired[handle], acquired.sends {
      acquired.pipe.end(GAPError.cancelled.error("the device has unsubscribed"))
    }
    if configuration.isEmpty, hub.isOpen {
      values.drop(GATTError.notSubscribed.bluetoothError) { $0.handle == handle }
    }
    // A session that removed the service needs no call.
    guard let session = broker.session(publishing: handle) else { return }
    serves(session)
    let subscriber = subscriber(to: handle)
    if configuration.isEmpty {
      session.send(ServerUnsubscribed.self, subscriber)
    } else {
      session.send(ServerSubscribed.self, subscriber)
    }
  }

  /// Maximum octets of a value in an update.
  var longestUpdate: Int { min(hub.mtu - 3, Attribute.longestValue) }

  /// The device as a subscriber to a value.
  func subscriber(to handle: UInt16) -> Subscriber {
    Subscriber(central: hub.peripheral.id, handle: handle, maximumLength: longestUpdate)
  }

  /// A packet is being sent to the device: records the session that it must pair for.
  func sends(_ packet: [UInt8]) {
    guard packet.first == ATTOpcode.errorResponse.rawValue,
      case .errorResponse(_, let handle, let error)? = try? ATTPDU(decoding: packet),
      [.insufficientAuthentication, .insufficientEncryption, .encryptionKeySizeTooShort].contains(error)
    else { return }
    refused = broker.session(publishing: handle)
  }

  /// The device uses this session's service: the link is no longer held for another one.
  private func serves(_ session: Session) {
    if served.insert(session).inserted { hub.brake.resume() }
  }

  // MARK: Write Commands

  /// Passes a Write Command to a session. Once a command does not fit, drops all commands until the queue has drained,
  /// so the loss report marks one gap.
  private func hand(_ command: ServerWrite.Params, to session: Session) {
    if !session.outbox.isCongested { ServerBroker.tellLosses(to: session) }
    if session.untoldLosses[command.central] != nil
      || session.callWithoutAnswer(ServerWrite.self, command) == .refused
    {
      session.costs.packetsLost += 1
      ServerBroker.recordLoss(of: 1, from: command.central, to: session)
    }
    hub.brake.slowDown(for: session)
  }

  /// Packets from the device were dropped on this machine: Write Commands may have been among them.
  func packetsDropped(_ count: Int) {
    guard !served.isEmpty else { return }
    let subscribers = hub.central.subscribers
    for session in served.sorted(by: { $0.id < $1.id }) {
      // A session that subscribes as well has already counted them.
      if !subscribers.contains(session) { session.costs.packetsLost += count }
      ServerBroker.recordLoss(of: count, from: hub.peripheral.id, to: session)
    }
  }

  // MARK: Notifications and indications

  func indicationFinished(_ id: IndicationID, _ result: Result<Void, GATTError>) {
    values.indicationFinished(id, result)
  }

  /// True if the session's first queued value can be sent, or there is none left.
  func canSendQueued(of session: Session) -> Bool { values.canSend(of: session) }

  /// The session's queue has its turn.
  func sendQueued(of session: Session) { values.takeTurn(of: session) }

  // MARK: Values over sockets

  func add(_ characteristic: ServedCharacteristic) { acquired[characteristic.handle] = characteristic }

  /// The characteristic is released.
  func released(_ characteristic: ServedCharacteristic) {
    if acquired[characteristic.handle] === characteristic { acquired[characteristic.handle] = nil }
  }

  /// Checks that this characteristic has no socket.
  func checkIsFree(_ handle: UInt16) throws {
    guard acquired[handle] == nil else {
      throw BledError.alreadyInProgress.error(
        "this session has acquired characteristic \(handle.handleText) for this device: close its descriptor first")
    }
  }

  /// True if the waiting packet for an acquired characteristic can be sent, or there is none left.
  func canSendValue(of handle: UInt16) -> Bool { acquired[handle]?.canSend ?? true }

  /// An acquired characteristic has its turn.
  func sendValue(of handle: UInt16) { acquired[handle]?.takeTurn() }

  /// Services were added or removed in a handle range.
  func servicesChanged(_ range: ClosedRange<UInt16>) {
    let error = BledError.unknownHandle.error("the service was removed")
    endAcquired(error) { range.contains($0.handle) }
    values.drop(error) { range.contains($0.handle) }
  }

  private func endAcquired(_ error: BluetoothError, where isMeant: (ServedCharacteristic) -> Bool) {
    for (_, characteristic) in acquired.sorted(by: { $0.key < $1.key }) where isMeant(characteristic) {
      characteristic.pipe.end(error)
    }
  }

  // MARK: The end of sessions and the link

  /// A session has ended: the device's request to it is refused.
  func ended(_ session: Session) {
    endAcquired(GAPError.cancelled.error("the session has ended")) { $0.session === session }
    if served.remove(session) != nil { hub.brake.resume() }
    if wishes.removeValue(forKey: session) != nil { hub.wishesChanged() }
    hub.ownerGone(session.owner)
    values.forget(session)
    hub.room.forget(session)
    questions.removeAll { $0.session == session }
  }

  /// The session's program has disconnected: a request to it waits until it is back.
  func programGone(_ session: Session) {
    endAcquired(GAPError.cancelled.error("the program has disconnected")) { $0.session === session }
    for index in questions.indices where questions[index].session == session { questions[index].callNumber = nil }
    if served.contains(session) { hub.brake.resume() }
  }

  /// The numbers of requests waiting for the session's program.
  func waitingQuestions(for session: Session) -> [Int] {
    questions.filter { $0.session == session && $0.callNumber == nil }.map(\.number)
  }

  /// The program is back: it receives the waiting request with this number.
  func programReturned(to number: Int) {
    if let question = questions.first(where: { $0.number == number }) { callSession(question) }
  }

  /// Pending requests have failed before.
  func linkEnded(_ error: BluetoothError) {
    endAcquired(error) { _ in true }
    values.drop(error) { _ in true }
    broker.ended(self)
  }
}

extension RPCError {
  /// The error sent to a device when a session refuses: the session's ATT error, else Unlikely Error.
  fileprivate var attErrorCode: ATTErrorCode {
    guard let data, data.domain.known == .att, let code = UInt8(exactly: data.code), code != 0 else {
      return .unlikelyError
    }
    return ATTErrorCode(rawValue: code)
  }
}
