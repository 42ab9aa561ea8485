import BledRPC
import Bluetooth

extension BledClient {
  /// Publishes a service on every adapter until `unpublish` or the end of this client. If it has values that are not
  /// fixed, call `serverEvents` first.
  /// - Parameter service: The service; a characteristic with a `value`, 0 to 512 octets, is answered by the daemon.
  /// - Returns: The service with its handles, which name its characteristics in requests and subscribers.
  /// - Throws: `BledError.invalidParameter`, which names the invalid member; `.unknownHandle` for an included service
  ///   that this client has not published; `.limitReached`; and as `call`.
  public func publish(_ service: ServiceToPublish) async throws(BluetoothError) -> ServiceDescription {
    let result = try await core.call(
      ServiceAdd.self, .init(service: service),
      undo: .made { [core] in core.callUnawaited(ServiceRemove.self, .init(handle: $0.service.handle)) })
    return result.service
  }

  /// Removes a service.
  /// - Parameter handle: The handle of the service's declaration; nil removes all services of this client.
  /// - Throws: `BledError.unknownHandle` if this client has published no such service; and as `call`.
  public func unpublish(_ handle: UInt16? = nil) async throws(BluetoothError) {
    _ = try await call(ServiceRemove.self, .init(handle: handle))
  }

  /// Starts an advertisement, which lasts until `stopAdvertising` or the end of this client; with a `duration` or
  /// `count` it ends by itself, as the notification `AdvertisingChanged` reports.
  /// - Parameter parameters: The data and options of the advertisement: 31 octets in the advertisement and as many in
  ///   the scan response, or up to 1650 with `extended`; the interval in seconds, 0.02 to 10.24.
  /// - Returns: Its number, the adapter and the actual interval in seconds, once it is on the air.
  /// - Throws: `BledError.invalidParameter`, which names the invalid member; `.limitReached`;
  ///   `GAPError.advertisingDataTooLong`, `.advertisingSetsExhausted`; `.notSupported` for features that the adapter
  ///   lacks; `.adapterAbsent`, `.adapterOff` or `.adapterFailed` for an adapter that cannot be used; and as `call`.
  public func advertise(_ parameters: AdvertisingStart.Params) async throws(BluetoothError) -> AdvertisingStart.Result {
    try await core.call(
      AdvertisingStart.self, parameters,
      undo: .made { [core] in core.callUnawaited(AdvertisingStop.self, .init(advertising: $0.advertising)) })
  }

  /// Stops an advertisement.
  /// - Parameter advertising: The number that `advertise` returned; nil stops all advertisements of this client.
  /// - Throws: `BledError.unknownHandle` if this client has no such advertisement; and as `call`.
  public func stopAdvertising(_ advertising: Int? = nil) async throws(BluetoothError) {
    _ = try await call(AdvertisingStop.self, .init(advertising: advertising))
  }

  /// Sends a new value to subscribers; by default it waits while one of them has no room. Cancelling the task undoes
  /// nothing once the daemon has the value.
  /// - Parameters:
  ///   - handle: The handle of the characteristic's value.
  ///   - value: 0 to 512 octets.
  ///   - centrals: Only these subscribers; all if nil.
  ///   - whenFull: The treatment of subscribers without room. With `.skip` and `.newest` the call never waits: up to 16
  ///     values of this client wait in the daemon for each subscriber.
  /// - Returns: The number of subscribers, the ones that miss a value, and the ones that must discover the changed
  ///   services first.
  /// - Throws: `BledError.unknownHandle` if this client has published no such characteristic; `.notAllowedByProperties`
  ///   if that can neither notify nor indicate; `.invalidParameter` for a value that is too long; and as `call`.
  @discardableResult
  public func notify(
    _ handle: UInt16, _ value: [UInt8], to centrals: [String]? = nil, whenFull: ServerNotify.WhenFull = .wait
  ) async throws(BluetoothError) -> ServerNotify.Result {
    try await ServedValues(client: self).send(
      ServerNotify.self,
      .init(
        handle: handle, value: HexBytes(value), centrals: centrals, whenFull: whenFull == .wait ? nil : whenFull))
  }

  /// Sends a new value to subscribers, and waits until each one that asked for indications has confirmed it, or will
  /// not: the link of a device that does not within 30 s ends. Cancelling the task ends the waiting alone: the value
  /// is sent.
  /// - Parameters:
  ///   - handle: The handle of the characteristic's value.
  ///   - value: 0 to 512 octets.
  ///   - centrals: Only these subscribers; all if nil. To learn of each confirmation when it comes, call this once for
  ///     each subscriber.
  ///   - whenFull: As with `notify`.
  /// - Returns: The result of sending, and the confirmations in their order of arrival; subscribers that receive
  ///   notifications have none.
  /// - Throws: As `notify`.
  public func indicate(
    _ handle: UInt16, _ value: [UInt8], to centrals: [String]? = nil, whenFull: ServerNotify.WhenFull = .wait
  ) async throws(BluetoothError) -> (result: ServerNotify.Result, confirmations: [ServerConfirmed.Params]) {
    try await ServedValues(client: self).indicate(
      .init(
        handle: handle, value: HexBytes(value), centrals: centrals, whenFull: whenFull == .wait ? nil : whenFull))
  }

  /// Sends the new values of several characteristics to subscribers, in one packet to devices that support that; waits
  /// while there is no room.
  /// - Parameters:
  ///   - values: 1 to 8, each of another characteristic.
  ///   - centrals: Only these subscribers; all if nil.
  /// - Returns: The number of devices they were sent to, and the devices that must discover the changed services first.
  /// - Throws: As `notify` with one value.
  @discardableResult
  public func notify(
    _ values: [ServerNotifyMultiple.Value], to centrals: [String]? = nil
  ) async throws(BluetoothError) -> ServerNotify.Result {
    try await ServedValues(client: self).send(ServerNotifyMultiple.self, .init(values: values, centrals: centrals))
  }

  /// Acquires a characteristic of this client for one device: its values are passed over a descriptor of their own.
  /// Closing the descriptor ends that; the daemon's `ServerReleased` reports when the daemon ended it.
  /// - Parameters:
  ///   - handle: The handle of the characteristic's value.
  ///   - central: The daemon's identifier of the device, as in `Subscriber`.
  /// - Returns: The descriptor and its use: a SOCK_SEQPACKET socket, which blocks. A written packet is notified or
  ///   indicated; a packet read was written by the device.
  /// - Throws: `BledError.unknownHandle` if this client has published no such characteristic; `.notAllowedByProperties`
  ///   if it cannot be written and the device has not subscribed; `.alreadyInProgress` if it is acquired already;
  ///   `.limitReached`; `GAPError.notConnected` for a device that uses no service of this client; and as `call`.
  public func acquire(
    _ handle: UInt16, for central: String
  ) async throws(BluetoothError) -> (result: ServerAcquire.Result, descriptor: ReceivedDescriptor) {
    try await core.callForDescriptor(ServerAcquire.self, .init(central: central, handle: handle))
  }

  /// Asks a device that connected to this machine for another connection latency; the device decides.
  /// - Parameters:
  ///   - latency: `.low` is 15 to 30 ms between two connection events, `.medium` 90 to 120 ms, `.high` 480 to 510 ms.
  ///   - central: The daemon's identifier of the device, as in `Subscriber`.
  /// - Throws: `GAPError.notConnected` if it is not connected; `GAPError.notSupported` if one of the controllers cannot
  ///   negotiate parameters; and as `call`.
  public func setLatency(_ latency: ConnectionLatency, of central: String) async throws(BluetoothError) {
    _ = try await call(ServerSetLatency.self, .init(central: central, latency: latency))
  }

  /// The requests and subscriptions of devices to this client's services, in order. Call it once, before `publish`;
  /// without a reader of the stream, devices receive errors for values that are not fixed.
  ///
  /// Up to 256 events wait to be fetched; beyond that, requests are refused with Insufficient Resources and the stream
  /// ends with `BledError.tooSlow`.
  public func serverEvents() -> AsyncThrowingStream<ServerEvent, any Error> {
    let buffering = StreamBuffering.all(256)
    let (stream, output) = AsyncThrowingStream.makeStream(of: ServerEvent.self, buffering)
    answerCalls(
      read: { output.offer(.read($0), buffering) }, write: { output.offer(.write($0), buffering) })
    let subscribed = core.observe(
      ServerSubscribed.self, value: { output.offer(.subscribed($0), buffering) }, end: { output.finish(throwing: $0) })
    let unsubscribed = core.observe(
      ServerUnsubscribed.self, value: { output.offer(.unsubscribed($0), buffering) }, end: { _ in })
    output.onTermination = { [core] _ in
      core.answer(ServerRead.name, with: nil)
      core.answer(ServerWrite.name, with: nil)
      subscribed.cancel()
      unsubscribed.cancel()
    }
    return stream
  }

  /// Calls functions for reads and writes of devices at this client's services, on the connection's queue, in the order
  /// of the messages, including those for `observe`. Call it before `publish`; `serverEvents` provides them as a
  /// stream.
  public func answerCalls(
    read: @escaping @Sendable (ReadRequest) -> Void, write: @escaping @Sendable (WriteRequest) -> Void
  ) {
    core.answer(ServerRead.name) { [weak core] message, id in
      core?.params(of: message, id) { core, params in
        read(ReadRequest(params: params, answer: RequestAnswer(core: core, id: id)))
      }
    }
    core.answer(ServerWrite.name) { [weak core] message, id in
      core?.params(of: message, id) { core, params in
        write(WriteRequest(params: params, answer: RequestAnswer(core: core, id: id)))
      }
    }
  }
}

extension ClientCore {
  func params<Params: RPCPayload>(
    of message: RPCMessage, _ id: RequestID, _ hand: (ClientCore, Params) -> Void
  ) {
    do {
      hand(self, try message.params(Params.self))
    } catch {
      refuse(id, error)
    }
  }
}
