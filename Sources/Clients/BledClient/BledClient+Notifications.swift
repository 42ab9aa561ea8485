import BledRPC
import Bluetooth

/// The treatment of elements of a stream that have not been fetched yet.
public enum StreamBuffering: Sendable {
  /// Keeps the newest of this number; older ones are dropped.
  case newest(Int)
  /// Keeps all up to this number; beyond it the stream ends with `BledError.tooSlow`.
  case all(Int)
}

/// A registered observer.
public struct Observation: Sendable {
  fileprivate let core: ClientCore
  fileprivate let name: String
  fileprivate let number: Int

  /// Ends the observation. Elements that are being delivered at this moment may still arrive.
  public func cancel() { core.stopObserving(name, number) }
}

extension BledClient {
  /// The daemon's notifications of one kind.
  /// - Parameters:
  ///   - type: Which notifications: the type of the event.
  ///   - buffering: The policy for elements that are not fetched in time.
  ///   - filter: Selects the notifications; it is called on the connection's queue.
  /// - Returns: A stream that ends when the client is closed, and with an error when the connection breaks.
  public func notifications<Notification: RPCNotification>(
    _ type: Notification.Type, buffering: StreamBuffering = .all(1024),
    where filter: @escaping @Sendable (Notification.Params) -> Bool = { _ in true }
  ) -> AsyncThrowingStream<Notification.Params, any Error> {
    let (stream, output) = AsyncThrowingStream.makeStream(of: Notification.Params.self, buffering)
    let observation = core.observe(type) { value in
      if filter(value) { output.offer(value, buffering) }
    } end: { error in
      output.finish(throwing: error)
    }
    output.onTermination = { _ in observation.cancel() }
    return stream
  }

  /// Calls a function for each notification of one kind, on the connection's queue, in the order of sending. `end` is
  /// called once when the connection ends, with an error unless this client closed it.
  public func observe<Notification: RPCNotification>(
    _ type: Notification.Type, value: @escaping @Sendable (Notification.Params) -> Void,
    end: @escaping @Sendable (BluetoothError?) -> Void
  ) -> Observation {
    core.observe(type, value: value, end: end)
  }

  /// Calls a function for each notification of one kind, on the connection's queue, before it is decoded: for
  /// notifications that often need only a small part decoded.
  /// - Parameter message: Called for each of them.
  /// - Returns: The observation.
  package func observeMessages<Notification: RPCNotification>(
    of type: Notification.Type, message: @escaping @Sendable (RPCMessage) -> Void
  ) -> Observation {
    core.observe(type, as: RPCMessage.self, decode: { $0 }, value: message, end: { _ in })
  }

  /// Reports each link, of any program, that comes up or ends from now on, until the stream is released or the task
  /// that reads it is cancelled. For the links that are already up see `PeripheralList`.
  /// - Returns: A stream that ends with `BledError.tooSlow` if more than 1024 are not fetched.
  /// - Throws: As `call`.
  public func linkChanges() async throws(BluetoothError) -> AsyncThrowingStream<PeripheralLinkChanged.Params, any Error>
  {
    try await core.linkChanges()
  }
}

extension ClientCore {
  func observe<Notification: RPCNotification>(
    _ type: Notification.Type, value: @escaping @Sendable (Notification.Params) -> Void,
    end: @escaping @Sendable (BluetoothError?) -> Void
  ) -> Observation {
    observe(
      type, as: Notification.Params.self,
      decode: { message throws(RPCError) in try message.params(Notification.Params.self) }, value: value, end: end)
  }

  fileprivate func observe<Value: Sendable>(
    _ type: (some RPCNotification).Type, as _: Value.Type, decode: @escaping ClientState.Decoder,
    value: @escaping @Sendable (Value) -> Void, end: @escaping @Sendable (BluetoothError?) -> Void
  ) -> Observation {
    let number = newNumber()
    let observer = ClientState.Observer(value: { if let decoded = $0 as? Value { value(decoded) } }, end: end)
    observe(type.name, as: Value.self, number, decode: decode, observer)
    return Observation(core: self, name: type.name, number: number)
  }
}

extension AsyncThrowingStream where Failure == any Error {
  static func makeStream(of type: Element.Type, _ buffering: StreamBuffering) -> (Self, Continuation) {
    switch buffering {
    case .newest(let count): makeStream(of: type, bufferingPolicy: .bufferingNewest(count))
    case .all(let count): makeStream(of: type, bufferingPolicy: .bufferingOldest(count))
    }
  }
}

extension AsyncThrowingStream.Continuation where Failure == any Error {
  /// Adds an element; ends the stream if it keeps all elements and its buffer is full.
  func offer(_ element: sending Element, _ buffering: StreamBuffering) {
    if case .dropped = yield(element), case .all(let count) = buffering {
      finish(
        throwing: BledError.tooSlow.error("more than \(count) elements of a stream were waiting: fetch them faster"))
    }
  }
}
