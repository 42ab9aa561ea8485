import BledConnection
import BledRPC
import Bluetooth

/// A request for something that this client has once at the daemon.
protocol ClientRequest: UseRequest {
  /// Its users.
  static var table: WritableKeyPath<ClientState, Uses<Self>> & Sendable { get }

  /// Notifies the daemon.
  static func undo(_ undo: Uses<Self>.Undo, on core: ClientCore)
}

extension LinkRequest: ClientRequest {
  static var table: WritableKeyPath<ClientState, Uses<Self>> & Sendable { \.links }

  static func undo(_ undo: Uses<Self>.Undo, on core: ClientCore) {
    switch undo {
    case .withdraw(let request): core.callUnawaited(PeripheralDisconnect.self, request.withdrawal)
    case .release(let link): core.callUnawaited(PeripheralDisconnect.self, .init(peripheral: link.peripheral))
    }
  }
}

extension SubscriptionRequest: ClientRequest {
  static var table: WritableKeyPath<ClientState, Uses<Self>> & Sendable { \.subscriptions }

  static func undo(_ undo: Uses<Self>.Undo, on core: ClientCore) {
    switch undo {
    // The device answers soon: the subscription is released then.
    case .withdraw: break
    case .release(let found):
      core.callUnawaited(GATTUnsubscribe.self, .init(peripheral: found.peripheral, handle: found.handle))
    }
  }
}

extension TrainRequest: ClientRequest {
  static var table: WritableKeyPath<ClientState, Uses<Self>> & Sendable { \.trains }

  static func undo(_ undo: Uses<Self>.Undo, on core: ClientCore) {
    switch undo {
    case .withdraw(let request): core.callUnawaited(PeriodicStop.self, request.withdrawal)
    case .release(let train): core.callUnawaited(PeriodicStop.self, .init(peripheral: train.peripheral, sid: train.sid))
    }
  }
}

/// A call of `peripheral.watch`.
struct WatchRequest: ClientRequest {
  /// The reports of all links.
  struct Reports: Hashable, Sendable {}

  static var table: WritableKeyPath<ClientState, Uses<Self>> & Sendable { \.watches }

  func mayMean(_ reports: Reports) -> Bool { true }

  func mayMean(_ other: WatchRequest) -> Bool { true }

  static func undo(_ undo: Uses<Self>.Undo, on core: ClientCore) {
    switch undo {
    // The daemon answers at once; the reports end then.
    case .withdraw: break
    case .release: core.callUnawaited(PeripheralWatch.self, .init(on: false))
    }
  }
}

extension ClientCore {
  /// Calls a method for a resource that this client has once at the daemon. A cancelled call does not affect another
  /// user of the resource.
  /// - Parameters:
  ///   - request: The call, as other calls are compared with it.
  ///   - thing: The resource that the client has with this answer; its user ends that with `leave`.
  ///   - arrived: As for `call`.
  func call<Method: RPCMethod, Request: ClientRequest>(
    _ method: Method.Type, _ params: Method.Params, for request: Request,
    using thing: @escaping @Sendable (Method.Result) -> Request.Thing?,
    arrived: @escaping @Sendable (Method.Result) -> Void
  ) async throws(BluetoothError) -> Method.Result {
    let number = newNumber()
    update { (users: inout Uses<Request>) in
      users.begin(number, request)
      return []
    }
    let undo = Undo<Method.Result>(
      abandoned: { self.update { (users: inout Uses<Request>) in users.abandoned(number) } },
      late: { result in
        let made = (try? result.get()).flatMap(thing)
        self.update { (users: inout Uses<Request>) in users.late(number, made) }
      })
    do {
      return try await call(method, params, undo: undo) { result in
        self.update { (users: inout Uses<Request>) in users.answered(number, thing(result)) }
        arrived(result)
      }
    } catch {
      update { (users: inout Uses<Request>) in users.ended(number) }
      throw error
    }
  }

  /// The reports of links, for one stream more.
  func linkChanges() async throws(BluetoothError) -> AsyncThrowingStream<PeripheralLinkChanged.Params, any Error> {
    let buffering = StreamBuffering.all(1024)
    let (stream, output) = AsyncThrowingStream.makeStream(of: PeripheralLinkChanged.Params.self, buffering)
    _ = try await call(
      PeripheralWatch.self, .init(), for: WatchRequest(), using: { _ in WatchRequest.Reports() },
      arrived: { [self] _ in
        let observation = observe(
          PeripheralLinkChanged.self, value: { output.offer($0, buffering) }, end: { output.finish(throwing: $0) })
        output.onTermination = { [self] _ in
          observation.cancel()
          leave(WatchRequest.Reports(), of: WatchRequest.self)
        }
      })
    return stream
  }

  /// Something that a preserved session has is used.
  func use<Request: ClientRequest>(_ thing: Request.Thing, of type: Request.Type) {
    update { (users: inout Uses<Request>) in
      users.use(thing)
      return []
    }
  }

  /// A user needs it no longer: the last one releases it.
  func leave<Request: ClientRequest>(_ thing: Request.Thing, of type: Request.Type) {
    update { (users: inout Uses<Request>) in users.leave(thing) }
  }

  /// Links that end by themselves need no release.
  func followLinks() {
    _ = observe(PeripheralDisconnected.self) { [weak self] event in
      if event.reconnecting != true { self?.lost(event.peripheral) }
    } end: { _ in
    }
    _ = observe(PeripheralConnectFailed.self) { [weak self] event in
      self?.lost(event.peripheral)
    } end: { _ in
    }
  }

  /// The client no longer uses a device.
  func lost(_ peripheral: String) {
    update { (users: inout Uses<LinkRequest>) in users.lost(UsedLink(peripheral: peripheral)) }
  }
}
