import BledRPC
import Bluetooth
import FoundationEssentials
import Synchronization

extension BledClient {
  /// Calls the daemon and waits for its answer.
  ///
  /// When the calling task is cancelled or the timeout expires, the call throws at once and a late answer is ignored.
  /// The operation continues in the daemon: the methods of `Peripheral` and the like cancel it there, too.
  /// - Parameters:
  ///   - method: The type of the method, as `PairingList`.
  ///   - params: Its parameters; `Empty()` for none.
  ///   - timeout: The timeout for the answer; nil waits as long as the connection lasts.
  /// - Returns: The method's result.
  /// - Throws: The daemon's result; `GAPError.cancelled`; `GAPError.timeout`; `BledError.daemonUnreachable`.
  public func call<Method: RPCMethod>(
    _ method: Method.Type, _ params: Method.Params, timeout: Duration? = nil
  ) async throws(BluetoothError) -> Method.Result {
    try await core.call(method, params, timeout: timeout, undo: .nothing)
  }

  /// Calls the daemon without waiting: use this and `observe` if the order of messages matters.
  /// - Parameters:
  ///   - method: The type of the method, as `PairingList`.
  ///   - params: Its parameters; `Empty()` for none.
  ///   - completion: Called once, on the connection's queue and in order with notifications, with the daemon's result,
  ///     or `BledError.daemonUnreachable` if the connection ends before.
  public func call<Method: RPCMethod>(
    _ method: Method.Type, _ params: Method.Params,
    completion: @escaping @Sendable (Result<Method.Result, BluetoothError>) -> Void
  ) {
    core.begin(method, id: core.newNumber(), params, late: nil) { completion($0.decoded(Method.Result.self)) }
  }

  /// Calls a method with an answer that passes a descriptor, without waiting; otherwise like `call`.
  public func callForDescriptor<Method: RPCMethod>(
    _ method: Method.Type, _ params: Method.Params,
    completion:
      @escaping @Sendable (Result<(result: Method.Result, descriptor: ReceivedDescriptor), BluetoothError>) -> Void
  ) {
    core.begin(method, id: core.newNumber(), params, late: nil) { [weak core] message in
      completion(
        message.decoded(Method.Result.self).flatMap { result in
          guard let descriptor = core?.takeDescriptor() else { return .failure(missingDescriptor(Method.name)) }
          return .success((result, descriptor))
        })
    }
  }
}

/// The messages that undo a call in the daemon when its caller no longer waits. The functions are called on the
/// connection's queue.
struct Undo<Answer: Sendable>: Sendable {
  /// Called when the wait ends, to cancel the operation in the daemon.
  let abandoned: (@Sendable () -> Void)?
  /// Called with the answer that arrives after that.
  let late: (@Sendable (Result<Answer, BluetoothError>) -> Void)?

  init(
    abandoned: @escaping @Sendable () -> Void, late: @escaping @Sendable (Result<Answer, BluetoothError>) -> Void
  ) {
    (self.abandoned, self.late) = (abandoned, late)
  }

  private init(_ late: (@Sendable (Result<Answer, BluetoothError>) -> Void)?) { (abandoned, self.late) = (nil, late) }

  /// Nothing is left in the daemon, or only a result that is valid without the caller: a value written, a link
  /// encrypted, a service removed; or the caller ends it in another way.
  static var nothing: Undo { Undo(nil) }

  /// The result of the call is released when the answer names it.
  static func made(_ release: @escaping @Sendable (Answer) -> Void) -> Undo {
    Undo { if case .success(let answer) = $0 { release(answer) } }
  }
}

extension ClientCore {
  /// - Parameters:
  ///   - undo: The undoing of the call when the task is cancelled or the timeout expires.
  ///   - arrived: Called with the result on the connection's queue, before the next message is handled.
  func call<Method: RPCMethod>(
    _ method: Method.Type, _ params: Method.Params, timeout: Duration? = nil, undo: Undo<Method.Result>,
    arrived: (@Sendable (Method.Result) -> Void)? = nil
  ) async throws(BluetoothError) -> Method.Result {
    try Task.checkNotCancelled(Method.name)
    let id = newNumber()
    let give = { @Sendable (error: BluetoothError) in self.abandon(id, error, abandoned: undo.abandoned) }
    let late: ClientState.Completion? = undo.late.map { late in
      { @Sendable result in late(result.decoded(Method.Result.self)) }
    }
    let clock = timeout.map { timeout in
      Task {
        try await Task.sleep(for: timeout)
        give(GAPError.timeout.error("\(Method.name) was not answered within \(timeout)"))
      }
    }
    defer { clock?.cancel() }
    let result = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        begin(method, id: id, params, late: late) { message in
          let result = message.decoded(Method.Result.self)
          if case .success(let value) = result { arrived?(value) }
          continuation.resume(returning: result)
        }
        // A cancellation before this point found no call to cancel.
        if Task.isCancelled { give(cancelled(Method.name)) }
      }
    } onCancel: {
      give(cancelled(Method.name))
    }
    return try result.get()
  }

  /// Calls a method with an answer that passes a descriptor. A late descriptor is closed, and so the daemon notices
  /// that it is not wanted: there is nothing else to undo.
  /// - Throws: As `call`.
  func callForDescriptor<Method: RPCMethod>(
    _ method: Method.Type, _ params: Method.Params, timeout: Duration? = nil
  ) async throws(BluetoothError) -> (result: Method.Result, descriptor: ReceivedDescriptor) {
    let passed = Mutex<ReceivedDescriptor?>(nil)
    let result = try await call(
      method, params, timeout: timeout, undo: .nothing, arrived: { _ in passed.withLock { $0 = self.takeDescriptor() } }
    )
    guard let descriptor = passed.withLock({ $0 }) else { throw missingDescriptor(Method.name) }
    return (result, descriptor)
  }

  /// Sends a call and ignores its answer: it cancels or stops something.
  func callUnawaited<Method: RPCMethod>(_ method: Method.Type, _ params: Method.Params) {
    begin(method, id: newNumber(), params, late: nil) { _ in }
  }
}

private func missingDescriptor(_ name: String) -> BluetoothError {
  BledError.protocolViolation.error("bled answered \(name) without a descriptor")
}

private func cancelled(_ name: String) -> BluetoothError { GAPError.cancelled.error("\(name) was cancelled") }

extension Task where Success == Never, Failure == Never {
  /// - Throws: `GAPError.cancelled` if the task is cancelled: its call changes nothing.
  static func checkNotCancelled(_ name: String) throws(BluetoothError) {
    guard !isCancelled else { throw cancelled(name) }
  }
}

extension Result where Success == RPCMessage, Failure == BluetoothError {
  func decoded<Value: RPCPayload>(_ type: Value.Type) -> Result<Value, BluetoothError> {
    flatMap { message in
      do throws(RPCError) {
        return .success(try message.result(type))
      } catch {
        return .failure(BledError.protocolViolation.error("bled sent an invalid answer: \(error.message)"))
      }
    }
  }
}
