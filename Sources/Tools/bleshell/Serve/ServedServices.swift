import BledClient
import BledRPC
import Bluetooth
import FoundationEssentials
import ScenarioRules

/// Answers devices from a file's values and prints their operations.
@MainActor final class ServedServices {
  private let client: BledClient
  private let output: Output
  private var values: ServedValues
  private let beginning = ContinuousClock.now
  private var handles: [UInt16] = []
  private var advertisement: Int?
  private var names: [String: String] = [:]
  private var subscribed: [String: Set<UInt16>] = [:]
  private var visits = 0
  /// The tasks that send the values that are due to subscribers.
  private var senders: [ServedValues.Place: Task<Void, any Error>] = [:]
  /// The tasks of late answers, by device.
  private var lateAnswers: [String: Set<Task<Void, any Error>>] = [:]
  /// Work that takes its time: late answers, and values for subscribers.
  private let work: AsyncStream<Work>
  private let enqueue: AsyncStream<Work>.Continuation

  private typealias Work = @Sendable @MainActor () async throws -> Void

  init(client: BledClient, _ behaviour: ServiceFile.Behaviour, output: Output) {
    self.client = client
    self.output = output
    values = ServedValues(behaviour)
    (work, enqueue) = AsyncStream.makeStream()
  }

  /// The time since the beginning.
  private var age: Duration { ContinuousClock.now - beginning }

  /// Publishes the services.
  func publish(_ services: [ServiceFile.Service]) async throws {
    for service in services {
      let published = try await client.publish(service.published)
      values.add(service, as: published)
      handles.append(published.handle)
    }
  }

  /// Starts to advertise them.
  func advertise(_ parameters: AdvertisingStart.Params) async throws -> AdvertisingStart.Result {
    let advertisement = try await client.advertise(parameters)
    self.advertisement = advertisement.advertising
    return advertisement
  }

  /// Removes the services and the advertisement, also after Ctrl-C: in line mode the session continues.
  func unpublish() async {
    let (client, advertisement, handles) = (client, advertisement, handles)
    await Task {
      if let advertisement { try? await client.stopAdvertising(advertisement) }
      for handle in handles { try? await client.unpublish(handle) }
    }.value
  }

  /// Answers until this many devices have subscribed and unsubscribed again; indefinitely if nil.
  func serve(_ events: AsyncThrowingStream<ServerEvent, any Error>, visits wanted: Int?) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      for (handle, value) in values.values {
        if let changes = value.changes { group.addTask { try await self.change(handle, changes) } }
      }
      if values.dependsOnLinks { enqueue.yield { [self] in await followLinks() } }
      group.addTask { try await self.doWork() }
      group.addTask { try await self.answer(events, visits: wanted) }
      defer { group.cancelAll() }
      // The other tasks never return: the first to end is `answer`, or a failure.
      try await group.next()
    }
  }

  private func doWork() async throws {
    try await withThrowingDiscardingTaskGroup { group in
      for await work in work { group.addTask(operation: work) }
    }
    try Task.checkCancellation()
  }

  /// Values may depend on the age of links. Without the permission to see these, it counts from the first request.
  private func followLinks() async {
    guard let changes = try? await client.linkChanges() else { return }
    do {
      for try await change in changes {
        if change.incoming == true {
          values.linkIsUp(change.peripheral, at: age)
        } else if !change.linked {
          values.linkEnded(change.peripheral)
          // The device waits no longer for its answers, and late writes are not stored.
          for answer in lateAnswers.removeValue(forKey: change.peripheral) ?? [] { answer.cancel() }
        }
      }
    } catch {
      // `answer` reports the end of the connection.
    }
  }

  private func answer(_ events: AsyncThrowingStream<ServerEvent, any Error>, visits wanted: Int?) async throws {
    for try await event in events {
      switch event {
      case .read(let request): try await receive(request)
      case .write(let request): try await receive(request)
      case .subscribed(let subscriber):
        subscribed[subscriber.central, default: []].insert(subscriber.handle)
        try await say("subscribed", subscriber.central, subscriber.handle)
        sendWhatIsDue(.init(central: subscriber.central, handle: subscriber.handle))
      case .unsubscribed(let subscriber):
        senders.removeValue(forKey: .init(central: subscriber.central, handle: subscriber.handle))?.cancel()
        try await say("unsubscribed", subscriber.central, subscriber.handle)
        subscribed[subscriber.central]?.remove(subscriber.handle)
        guard subscribed[subscriber.central]?.isEmpty == true else { continue }
        subscribed[subscriber.central] = nil
        visits += 1
        if visits == wanted { return }
      }
    }
    try Task.checkCancellation()
    throw BledError.daemonUnreachable.error("the connection to bled was closed")
  }

  // MARK: Requests

  private func receive(_ request: ReadRequest) async throws {
    let params = request.params
    let answer = values.answer(.read, of: params.handle, by: params.central, at: age)
    try await inTime(answer, to: params.central) { [self] in
      if let error = answer.error { return request.refuse(.refusal(error)) }
      try await read(request)
    }
  }

  private func receive(_ request: WriteRequest) async throws {
    guard request.params.withoutResponse != true, let handle = request.params.writes.first?.handle else {
      return try await write(request)
    }
    let answer = values.answer(.write, of: handle, by: request.params.central, at: age)
    try await inTime(answer, to: request.params.central) { [self] in
      if let error = answer.error { return request.refuse(.refusal(error)) }
      try await write(request)
    }
  }

  /// Answers at the time of the answer; other devices do not wait for it.
  private func inTime(_ answer: ServedValues.Answer, to central: String, _ respond: @escaping Work) async throws {
    let delay = answer.time - age
    guard delay > .zero else { return try await respond() }
    let late = Task {
      try await Task.sleep(for: delay)
      try await respond()
    }
    lateAnswers[central, default: []].insert(late)
    enqueue.yield { [self] in
      try await finish(late)
      lateAnswers[central]?.remove(late)
      if lateAnswers[central]?.isEmpty == true { lateAnswers[central] = nil }
    }
  }

  /// Waits for a task and passes on its failure; that it is cancelled alone is none.
  private func finish(_ task: Task<Void, any Error>) async throws {
    try await withTaskCancellationHandler {
      do { try await task.value } catch {
        // A call that is cancelled on its way throws an error of its own, not `CancellationError`.
        guard task.isCancelled else { throw error }
        try Task.checkCancellation()
      }
    } onCancel: {
      task.cancel()
    }
  }

  private func read(_ request: ReadRequest) async throws {
    let params = request.params
    guard let octets = values.read(params.handle, by: params.central, at: age) else {
      return request.refuse(ATTRefusal.readNotPermitted.error("there is no value \(params.handle.handleText)"))
    }
    request.respond(octets)
    // A read of a long value's rest belongs to the earlier read.
    if params.offset == 0 { try await say("read", params.central, params.handle, octets) }
  }

  private func write(_ request: WriteRequest) async throws {
    let adopting: [UInt16]
    do {
      adopting = try values.write(request.params.writes)
    } catch {
      return request.refuse(error)
    }
    request.respond()
    var written: [UInt16] = []
    for write in request.params.writes where !written.contains(write.handle) {
      written.append(write.handle)
      let octets = values.values[write.handle]?.octets ?? []
      try await say("write", request.params.central, write.handle, octets)
    }
    for handle in adopting { try await notify(handle) }
  }

  // MARK: Changes

  /// Sends a subscriber its values in their time.
  private func sendWhatIsDue(_ place: ServedValues.Place) {
    values.subscribed(place, at: age)
    guard values.delay(place, at: age) != nil else { return }
    let sender = Task {
      while let delay = values.delay(place, at: age) {
        try await Task.sleep(for: delay)
        if let octets = values.due(place, at: age) { try await notify(place.handle, octets, to: [place.central]) }
      }
    }
    senders.updateValue(sender, forKey: place)?.cancel()
    enqueue.yield { [self] in try await finish(sender) }
  }

  private func change(_ handle: UInt16, _ changes: ServiceFile.Changes) async throws {
    while true {
      for value in changes.values {
        try await Task.sleep(for: .seconds(changes.every))
        values.set(handle, value.octets)
        try await notify(handle)
      }
    }
  }

  /// Sends a value to the subscribers.
  private func notify(_ handle: UInt16) async throws {
    guard let value = values.values[handle], value.tells, subscribed.values.contains(where: { $0.contains(handle) })
    else { return }
    try await notify(handle, value.octets, to: nil)
  }

  /// - Parameter centrals: Only these subscribers; all if nil.
  private func notify(_ handle: UInt16, _ octets: [UInt8], to centrals: [String]?) async throws {
    let result = try await client.notify(handle, octets, to: centrals)
    for central in result.outOfSync ?? [] { try await say("outOfSync", central, handle, octets) }
    if result.receivers > 0 {
      try await say("notified", centrals?.first, handle, octets)
    } else if result.outOfSync?.isEmpty != false {
      try await say("nobodySubscribed", nil, handle, octets)
    }
  }

  private func say(_ event: String, _ central: String?, _ handle: UInt16, _ value: [UInt8]? = nil) async throws {
    let now = Date()
    let uuid = values.values[handle]?.uuid ?? 0
    if output.json {
      var object: [String: JSONValue] = [
        "event": .text(event), "handle": .integer(Int(handle)), "uuid": .text("\(uuid)"),
      ]
      object["central"] = central.map { .text($0) }
      if let value { object.add(value, of: Attribute(handle: handle, uuid: uuid, properties: [])) }
      return try output.object("event", object, at: now.timeIntervalSince1970)
    }
    var (who, what) =
      switch event {
      case "nobodySubscribed": ("nobody", "is subscribed")
      case "outOfSync": ("", "is not notified until it has discovered the changed services")
      case "notified" where central != nil: ("", "is notified of")
      default: ("all subscribers", event)
      }
    if let central { who = await name(of: central) }
    var line =
      "\(output.styled(clockText(now), .dim))  \(output.styled(who, .name))  \(what)  \(Attribute.title(uuid))"
    if let value {
      let text = meaning(value, of: uuid)
      line += ": \(output.styled(text ?? Hex.encode(value), .bold))"
      if text != nil { line += "  \(output.styled(Hex.encode(value), .dim))" }
    }
    output.line(line)
  }

  /// The name or address of a device, requested once.
  private func name(of central: String) async -> String {
    if let name = names[central] { return name }
    let known = try? await client.call(PeripheralList.self, Empty(), timeout: .seconds(1)).peripherals
    let entry = known?.first { $0.peripheral == central }
    let name = Output.clean(entry.map { $0.name ?? $0.address } ?? "\(central.prefix(8))")
    names[central] = name
    return name
  }
}

extension BluetoothError {
  /// An error that a scenario answers a request with.
  fileprivate static func refusal(_ code: UInt8) -> BluetoothError {
    let name = ATTRefusal(rawValue: Int(code)).map { "\($0)" } ?? "error\(code)"
    return BluetoothError(
      domain: .att, code: Int(code), name: name, message: "the scenario answers with this error")
  }
}
