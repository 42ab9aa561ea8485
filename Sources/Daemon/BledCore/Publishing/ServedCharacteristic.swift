import ATT
import BledRPC
import Bluetooth
import GATT

/// A published characteristic, with its own socket for the values a program exchanges with one device. A packet from
/// the program is notified or indicated, as configured by the device; each written value becomes a packet.
///
/// | Input                                  | Effect                                                          |
/// |----------------------------------------|-----------------------------------------------------------------|
/// | a packet, there is room on the link    | sent                                                            |
/// | a packet, there is none, or others wait | it waits for its turn                                          |
/// | a Write Command                        | to the program, or dropped and counted (`ValuePipe`)            |
/// | a Write Request, the program reads     | to the program; the device has its response                     |
/// | a Write Request, values wait           | the response waits until the program has read all               |
/// | a Write Request without room           | Insufficient Resources                                          |
/// | the end before it was read             | Unlikely Error                                                  |
/// | the device unsubscribes                | the end, if it had subscribed when it was acquired              |
final class ServedCharacteristic: ValuePipeOwner {
  let handle: UInt16
  let sends: Bool
  let receives: Bool
  let pipe: ValuePipe
  private unowned let link: ServerLink
  /// The packet without room on the link.
  private var waiting: [UInt8]?
  /// The Write Requests with responses that wait for the program: one per bearer.
  private var unanswered: [QuestionToken] = []

  init(
    _ characteristic: RegisteredCharacteristic, of session: Session, on link: ServerLink, socket: ValueSocket
  ) {
    handle = characteristic.valueHandle
    self.link = link
    sends = !link.hub.subscription(of: characteristic.valueHandle).isEmpty
    receives = !characteristic.properties.isDisjoint(with: [.write, .writeWithoutResponse, .authenticatedSignedWrites])
    pipe = ValuePipe(socket, of: session, on: link.hub)
    pipe.owner = self
  }

  var session: Session { pipe.session }

  // MARK: From the program

  func check(_ length: Int) throws(BluetoothError) {
    guard sends else {
      throw BledError.notAllowedByProperties.error(
        "the device had not subscribed to characteristic \(handle.handleText) when it was acquired")
    }
    guard length <= link.longestUpdate else {
      throw BledError.invalidParameter.error(
        "a packet of \(length) octets was written; the limit on this link is \(link.longestUpdate)")
    }
    guard link.hub.isInSync else {
      throw BledError.notPermitted.error("the services changed, and the device must discover them first")
    }
  }

  func send(_ value: [UInt8]) -> Bool {
    let updates = updates(value)
    if link.hub.room.isFree, link.values.hasRoom(for: updates) {
      link.values.send(updates, of: session)
      return true
    }
    waiting = value
    link.hub.room.wait(for: .values(of: handle), of: session)
    return false
  }

  /// True if there is room for the waiting packet.
  var canSend: Bool { waiting.map { link.values.hasRoom(for: updates($0)) } ?? true }

  /// Sends the waiting packet, after a check for room.
  func takeTurn() {
    guard let value = waiting else { return }
    // The device may have become change-unaware since.
    do throws(BluetoothError) { try check(value.count) } catch { return pipe.end(error) }
    waiting = nil
    link.values.send(updates(value), of: session)
    pipe.sent()
  }

  private func updates(_ value: [UInt8]) -> ServerUpdates {
    ServerUpdates([ServerUpdate(handle: handle, value: value)]) { link.hub.subscription(of: $0) }
  }

  // MARK: From the device

  /// Takes a write, if it is a whole value.
  /// - Returns: true if it is such a write.
  func receive(_ write: WriteQuestion) -> Bool {
    guard receives, write.writes.count == 1, let value = write.writes.first, value.offset == 0 else { return false }
    let hasRoom = pipe.receive(value.value)
    guard let token = write.token else { return true }
    guard hasRoom else {
      link.hub.answerWrite(token, .insufficientResources)
      return true
    }
    if pipe.isCongested {
      unanswered.append(token)
    } else {
      link.hub.answerWrite(token, nil)
    }
    return true
  }

  /// The device no longer waits for a response.
  func questionCancelled(_ token: QuestionToken) {
    unanswered.removeAll { $0 == token }
  }

  func drained() { answer(nil) }

  func abandoned() { answer(.unlikelyError) }

  private func answer(_ error: ATTErrorCode?) {
    let tokens = unanswered
    unanswered = []
    for token in tokens { link.hub.answerWrite(token, error) }
  }

  // MARK: The end

  func tellDropped(_ count: Int, isAtEnd: Bool) -> Bool {
    ServerBroker.recordLoss(of: count, from: link.hub.peripheral.id, to: session)
    return true
  }

  func ended(_ reason: BluetoothError?, unsent: Int) {
    link.released(self)
    link.hub.room.leave(.values(of: handle), of: session)
    // The program has not read it.
    answer(.unlikelyError)
    guard let reason else { return }
    session.send(
      ServerReleased.self,
      .init(
        central: link.hub.peripheral.id, handle: handle, reason: RPCError(reason),
        unsent: unsent + (waiting == nil ? 0 : 1)))
  }
}

extension ServerBroker {
  /// Acquires a session's characteristic for one of the devices using its services.
  func acquire(
    _ params: ServerAcquire.Params, for session: Session, _ reply: Reply<ServerAcquire.Result>
  ) throws {
    guard let sockets else { throw GAPError.notSupported.error("this daemon passes no descriptors") }
    let characteristic = try characteristic(at: params.handle, of: session)
    guard let link = link(serving: params.central, by: session) else {
      throw GAPError.notConnected.error(
        "no device \(params.central.excerpt) that uses this session's services is connected")
    }
    try link.checkIsFree(params.handle)
    let (socket, passed) = try sockets.pair(for: session)
    let acquired = ServedCharacteristic(characteristic, of: session, on: link, socket: socket)
    guard acquired.sends || acquired.receives else {
      throw BledError.notAllowedByProperties.error(
        "characteristic \(params.handle.handleText) cannot be written, and the device has not subscribed to it")
    }
    try session.admitDescriptor()
    link.add(acquired)
    reply.succeed(
      .init(sends: acquired.sends, receives: acquired.receives, maximumLength: link.longestUpdate), with: passed)
    acquired.pipe.begin()
  }
}
