import BledClient
import BledRPC
import Bluetooth
import FoundationEssentials

/// Answers devices from a file's values and prints their operations.
@MainActor final class ServedServices {
  private let client: BledClient
  private let output: Output
  private var values = ServedValues()
  private var handles: [UInt16] = []
  private var advertisement: Int?
  private var names: [String: String] = [:]
  private var subscribed: [String: Set<UInt16>] = [:]
  private var visits = 0

  init(client: BledClient, output: Output) {
    self.client = client
    self.output = output
  }

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
      group.addTask { try await self.answer(events, visits: wanted) }
      defer { group.cancelAll() }
      // `change` never returns: the first to end is `answer`, or a failure.
      try await group.next()
    }
  }

  private func answer(_ events: AsyncThrowingStream<ServerEvent, any Error>, visits wanted: Int?) async throws {
    for try await event in events {
      switch event {
      case .read(let request): try await read(request)
      case .write(let request): try await write(request)
      case .subscribed(let subscriber):
        subscribed[subscriber.central, default: []].insert(subscriber.handle)
        try await say("subscribed", subscriber.central, subscriber.handle)
      case .unsubscribed(let subscriber):
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

  private func read(_ request: ReadRequest) async throws {
    let handle = request.params.handle
    guard let value = values.values[handle] else {
      return request.refuse(ATTRefusal.readNotPermitted.error("there is no value \(handle.handleText)"))
    }
    request.respond(value.octets)
    // A read of a long value's rest belongs to the earlier read.
    if request.params.offset == 0 { try await say("read", request.params.central, handle, value.octets) }
  }

  private func write(_ request: WriteRequest) async throws {
    do {
      try values.write(request.params.writes)
    } catch {
      return request.refuse(error)
    }
    request.respond()
    var written: [UInt16] = []
    for write in request.params.writes where !written.contains(write.handle) {
      written.append(write.handle)
      let octets = values.values[write.handle]?.octets ?? []
      try await say("write", request.params.central, write.handle, octets)
      try await notify(write.handle)
    }
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
    let result = try await client.notify(handle, value.octets)
    for central in result.outOfSync ?? [] { try await say("outOfSync", central, handle, value.octets) }
    if result.receivers > 0 {
      try await say("notified", nil, handle, value.octets)
    } else if result.outOfSync?.isEmpty != false {
      try await say("nobodySubscribed", nil, handle, value.octets)
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

/// The values of a service file, by the handles that the daemon assigned.
private struct ServedValues {
  /// A characteristic with a value stored here.
  struct Value {
    let uuid: BluetoothUUID
    let tells: Bool
    let changes: ServiceFile.Changes?
    var octets: [UInt8]
  }

  private(set) var values: [UInt16: Value] = [:]

  /// Adds the characteristics of a service as it was published.
  mutating func add(_ service: ServiceFile.Service, as published: ServiceDescription) {
    for (characteristic, description) in zip(service.characteristics, published.characteristics ?? []) {
      let tells = characteristic.properties.contains(.notify) || characteristic.properties.contains(.indicate)
      values[description.handle] = Value(
        uuid: characteristic.uuid, tells: tells, changes: characteristic.changes, octets: characteristic.octets)
    }
  }

  mutating func set(_ handle: UInt16, _ octets: [UInt8]) { values[handle]?.octets = octets }

  /// Stores the values that a device wrote, all or none.
  /// - Throws: an `ATTRefusal` as an error if the write is not valid.
  mutating func write(_ writes: [ServerWrite.Write]) throws(BluetoothError) {
    var changed = values
    for write in writes {
      guard let old = changed[write.handle]?.octets else {
        throw ATTRefusal.writeNotPermitted.error("there is no value \(write.handle.handleText) to write")
      }
      guard write.offset >= 0, write.offset <= old.count else {
        throw ATTRefusal.invalidOffset.error("the value has only \(old.count) octets")
      }
      let octets = old[..<write.offset] + write.value.octets
      guard octets.count <= 512 else {
        throw ATTRefusal.invalidAttributeValueLength.error("a value has at most 512 octets")
      }
      changed[write.handle]?.octets = Array(octets)
    }
    values = changed
  }
}
