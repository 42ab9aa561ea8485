import ATT
import Adapter
import BledRPC
import Bluetooth
import GATT

/// The owner of an `OperationRunner`.
protocol OperationHandler: AnyObject {
  /// An operation that had to discover its attributes has ended.
  func lookedUp()
  /// The device refuses requests by handle until we acknowledge its changes.
  func databaseIsOutOfSync()
}

/// Runs the operations of sessions on one link, in the turns of `LinkQueue`.
final class OperationRunner {
  unowned let handler: any OperationHandler
  private unowned let hub: LinkHub
  private let annotations: CallAnnotations
  private let scheduler: any Scheduler
  private var queue = LinkQueue()
  /// The call of the last started operation.
  private var lastAnnotation: CallAnnotation?
  /// True while the link is being secured for an operation. Operations refused by the device meanwhile wait for the
  /// outcome.
  private var isSecuring = false
  /// True if the next operation begins after the loop has served others.
  private var isPausing = false

  init(_ handler: any OperationHandler, on hub: LinkHub, annotations: CallAnnotations) {
    self.handler = handler
    self.hub = hub
    self.annotations = annotations
    scheduler = hub.scheduler
  }

  /// Enqueues an operation, or begins it at once.
  func enqueue(_ operation: LinkOperation) {
    let hub = hub
    guard hub.isOpen else { return operation.completion.fail(LinkHub.gone) }
    operation.annotation = annotations.claim(for: operation.session, on: hub.peripheral.id)
    if mayAsk, let id = queue.beginAtOnce(operation, hasRoom: hub.room.isFree && hub.link.isWritable) {
      begin(operation, id)
    } else {
      queue.append(operation)
      awaitRoom(for: operation)
    }
    beginNext()
  }

  /// True if requests reach the device. During encryption by the kernel they would wait while their 30 s run.
  private var mayAsk: Bool { !queue.hasAside || hub.link.isWritable }

  private func beginNext() {
    guard !queue.isEmpty, !isPausing else { return }
    let hub = hub
    guard mayAsk else { return }
    while hub.isOpen, !isPausing, let (id, operation) = queue.beginNext() {
      begin(operation, id)
      guard queue.operation(asking: id) == nil else { continue }
      // The operation was answered without the device. There may be thousands of these, and others want the loop, too.
      isPausing = true
      scheduler.schedule(after: .zero) { [weak self] in
        self?.isPausing = false
        self?.beginNext()
      }
    }
    hub.room.give()
  }

  private func begin(_ operation: LinkOperation, _ id: ProcedureID) {
    if operation.annotation !== lastAnnotation {
      lastAnnotation = operation.annotation
      if let annotation = lastAnnotation { annotations.begins(annotation) }
    }
    if operation.isCommand, let session = operation.session { hub.room.sent(by: session) }
    guard let procedure = operation.procedure else { return proceed(operation, nil, id) }
    guard case .command(let isSigned) = operation.kind else {
      return hub.start(procedure, id: id, on: queue.bearer(asking: id))
    }
    send(operation, isSigned: isSigned, procedure, id)
  }

  /// Sends a Write Command, which has no response.
  private func send(_ command: LinkOperation, isSigned: Bool, _ procedure: GATTProcedure, _ id: ProcedureID) {
    var command = command
    do throws(BluetoothError) {
      if isSigned, case .writeWithoutResponse(let handle, let value) = procedure {
        hub.start(try hub.bond.signedWrite(handle, value), id: id)
      } else {
        hub.start(procedure, id: id)
      }
      _ = LinkOperation.next(&command, nil)
    } catch {
      command.completion.fail(error)
    }
    if command.wasLookedUp { handler.lookedUp() }
  }

  /// Handles a result of the operation in progress; nil at the operation's first turn.
  private func proceed(_ operation: LinkOperation, _ result: Result<GATTResult, GATTError>?, _ id: ProcedureID) {
    var operation = operation
    let next = LinkOperation.next(&operation, result)
    // The attribute found is to be written without response: the operation waits for room, not for a result.
    if operation.isCommand {
      queue.ended(id, continuing: operation)
      return awaitRoom(for: operation)
    }
    guard let next else {
      queue.ended(id)
      if operation.wasLookedUp { handler.lookedUp() }
      return
    }
    operation.procedure = next
    operation.wasSecured = false
    if result == nil {
      queue.asks(operation, id)
      hub.start(next, id: id)
    } else {
      queue.ended(id, continuing: operation)
    }
  }

  /// A procedure has ended.
  func finished(_ id: ProcedureID, _ result: Result<GATTResult, GATTError>) {
    guard let operation = queue.operation(asking: id) else { return }
    switch result {
    case .success, .failure(.att): queue.answered(id)
    default: break
    }
    if case .failure(.att(.databaseOutOfSync, _)) = result { handler.databaseIsOutOfSync() }
    if case .failure(.att(let error, _)) = result, error.isAboutSecurity, canSecure(operation) {
      queue.setAside(id)
      secure(operation, id, after: error, result)
    } else if case .failure(.bearer(let error)) = result, isRepeated(operation, id, after: error) {
      queue.ended(id, continuing: operation)
    } else {
      proceed(operation, result, id)
    }
    beginNext()
  }

  /// True if an operation is repeated because its enhanced bearer has ended. A write may or may not be in force; and 30
  /// s are long enough to wait for an answer.
  private func isRepeated(_ operation: LinkOperation, _ id: ProcedureID, after error: BearerError) -> Bool {
    guard hub.isOpen, operation.isRead, queue.bearer(asking: id) != .fixed else { return false }
    if case .timeout = error { return false }
    return true
  }

  // MARK: Security

  /// True if the link may be secured for an operation refused for lack of security, which is then repeated.
  private func canSecure(_ operation: LinkOperation) -> Bool {
    hub.isOpen && !operation.wasSecured && !operation.isUnawaited
  }

  /// Secures the link for an operation set aside; others continue meanwhile.
  private func secure(
    _ operation: LinkOperation, _ id: ProcedureID, after error: ATTErrorCode,
    _ refusal: Result<GATTResult, GATTError>
  ) {
    guard !isSecuring else { return }
    isSecuring = true
    // A discovery reading a value is not a reason to pair.
    hub.raiseSecurity(after: error, for: operation.isExtra ? nil : operation.session) { [weak self] isSecured in
      guard let self else { return }
      isSecuring = false
      // They go behind this one, the first set aside.
      queue.continueAside(except: id)
      if let operation = queue.operation(asking: id) {
        operation.wasSecured = true
        if isSecured { queue.ended(id, continuing: operation) } else { proceed(operation, refusal, id) }
      }
      beginNext()
    }
  }

  // MARK: Write Commands

  private func awaitRoom(for operation: LinkOperation) {
    if operation.isCommand, let session = operation.session { hub.room.wait(for: .commands(session), of: session) }
  }

  /// True if the session's Write Commands wait for more than room.
  func delaysCommands(of session: Session) -> Bool { queue.delaysCommands(of: session) }

  /// Sends a session's Write Command, after a check for room.
  func sendCommand(of session: Session) {
    guard let (id, operation) = queue.beginCommand(of: session) else { return }
    if queue.contains(session) { hub.room.wait(for: .commands(session), of: session) }
    begin(operation, id)
    beginNext()
  }

  // MARK: Bearers

  /// Operations may be asked on another bearer, too.
  func bearerOpened(_ bearer: BearerID, mtu: Int) {
    queue.add(bearer, mtu: mtu)
    beginNext()
  }

  /// A bearer has ended; its pending operations fail next.
  func bearerEnded(_ bearer: BearerID) { queue.remove(bearer) }

  // MARK: Ends

  /// Ends a session's operations with an error, unless `stays` accepts them. The device may still answer operations in
  /// progress.
  func end(of session: Session, _ error: BluetoothError, unless stays: (LinkOperation) -> Bool) {
    for operation in queue.removeAll(of: session, unless: stays) { operation.completion.fail(error) }
    beginNext()
  }

  /// Ends the operations on a range of invalidated handles (Core 5.4, Vol 3, Part G, 2.5.2).
  /// - Parameter sessions: all with operations.
  func endHandles(in range: ClosedRange<UInt16>, of sessions: [Session]) {
    for operation in queue.removeHandles(in: range, of: sessions) {
      operation.completion.fail(BledError.servicesChanged)
    }
  }

  /// Ends waiting operations whose handles may no longer be valid; operations in progress stay.
  /// - Parameter sessions: all with operations.
  func endWaitingHandles(of sessions: [Session]) {
    for operation in queue.removeHandles(of: sessions.map { $0 } + [nil]) {
      operation.completion.fail(BledError.servicesChanged)
    }
  }

  /// The link has ended.
  func endAll(_ error: BluetoothError) { for operation in queue.removeAll() { operation.completion.fail(error) } }

  /// Begins waiting operations.
  func goOn() { beginNext() }

  /// The link accepts packets again: begins operations that waited for room while others are set aside.
  func roomAgain() {
    if queue.hasAside { beginNext() }
  }
}
