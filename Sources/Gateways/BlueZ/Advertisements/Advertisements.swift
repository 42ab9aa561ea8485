import BledRPC
import Bluetooth

/// LEAdvertisingManager1: the advertisements of the programs, each sent by bled in the program's session.
final class Advertisements: Registry {
  private static let interface = "org.bluez.LEAdvertisement1"
  private static let maximum = AdvertisingAbilities.instances

  private struct Entry {
    let client: BusClient
    let path: String
    /// The path of the adapter, and bled's name of it.
    let place: String
    let adapter: String
    /// bled's number; nil until it is on the air.
    var number: Int?
    /// Its content as it was read last.
    var content: Advertisement?
    /// True while the program is asked for it.
    var isRead = false
    /// True if the program's object has changed since it was asked.
    var isStale = false
  }

  private let context: Context
  private let adapters: Adapters
  private var entries: [Entry] = []

  var finished: (BusClient) -> Void = { _ in }

  init(_ context: Context, _ adapters: Adapters) {
    self.context = context
    self.adapters = adapters
  }

  func unregister(_ call: BusCall, _ client: BusClient) {
    let path = call.arguments[0].path
    guard let index = entries.firstIndex(where: { $0.client === client && $0.path == path }) else {
      return context.fail(call, .doesNotExist)
    }
    stop(entries.remove(at: index))
    context.reply(call)
  }

  func register(_ call: BusCall, _ client: BusClient) {
    guard let path = call.arguments[0].path else { return context.fail(call, .invalidArguments) }
    guard entry(path, client) == nil else { return context.fail(call, .alreadyExists) }
    guard entries.count(where: { $0.client === client }) < Self.maximum else {
      return context.fail(call, .notPermitted("Maximum advertisements reached"))
    }
    guard let adapter = adapters.adapter(at: call.path) else { return context.fail(call, .doesNotExist) }
    entries.append(Entry(client: client, path: path, place: call.path, adapter: adapter))
    context.bus.watch(client.name, true)
    start(path, client) { [weak self, context] result in
      if case .failure = result { self?.remove(path, client) }
      context.finish(call, result)
    }
  }

  /// Asks the program for its advertisement, and puts it on the air.
  private func start(_ path: String, _ client: BusClient, _ completion: @escaping (Result<Void, BusError>) -> Void) {
    change(path, client) { ($0.isRead, $0.isStale) = (true, false) }
    client.call(path, Interface.properties.rawValue, "GetAll", [.string(Self.interface)]) { [weak self] answer in
      guard let self, let entry = entry(path, client) else { return completion(.failure(.doesNotExist)) }
      change(path, client) { $0.isRead = false }
      if entry.isStale { return start(path, client, completion) }
      let advertisement: Advertisement
      do throws(BusError) {
        guard case .success(let values) = answer, let value = values.first else {
          throw .failed("Failed to register advertisement")
        }
        advertisement = try Advertisement(
          ManagedObjects.properties(value), adapter: entry.adapter,
          alias: context.tree.value(entry.place, .adapter, "Alias")?.string ?? "")
      } catch {
        return completion(.failure(error))
      }
      change(path, client) { $0.content = advertisement }
      send(advertisement, path, client, completion)
    }
  }

  private func send(
    _ content: Advertisement, _ path: String, _ client: BusClient,
    _ completion: @escaping (Result<Void, BusError>) -> Void
  ) {
    let session = client.session
    session.call(AdvertisingStart.self, content.params) { [weak self] result in
      guard let self else { return }
      switch result {
      case .success(let started):
        guard let index = entries.firstIndex(where: { $0.client === client && $0.path == path }) else {
          session.callUnawaited(AdvertisingStop.self, AdvertisingStop.Params(advertising: started.advertising))
          return completion(.failure(.doesNotExist))
        }
        let former = entries[index].number
        entries[index].number = started.advertising
        if let former { session.callUnawaited(AdvertisingStop.self, AdvertisingStop.Params(advertising: former)) }
        count()
        completion(.success(()))
      case .failure(let error):
        guard let other = content.instead(after: error) else { return completion(.failure(Self.error(error))) }
        send(other, path, client, completion)
      }
    }
  }

  private static func error(_ error: BluetoothError) -> BusError {
    switch (error.domain, error.code) {
    case (.gap, GAPError.advertisingDataTooLong.rawValue):
      BusError(name: "org.bluez.Error.InvalidLength", message: "Advertising data too long")
    case (.gap, GAPError.advertisingSetsExhausted.rawValue), (.bled, BledError.limitReached.rawValue):
      .notPermitted("Maximum advertisements reached")
    default: BusError(error, otherwise: .failed("Failed to register advertisement"))
    }
  }

  private func entry(_ path: String, _ client: BusClient) -> Entry? {
    entries.first { $0.client === client && $0.path == path }
  }

  private func change(_ path: String, _ client: BusClient, _ change: (inout Entry) -> Void) {
    guard let index = entries.firstIndex(where: { $0.client === client && $0.path == path }) else { return }
    change(&entries[index])
  }

  private func remove(_ path: String, _ client: BusClient) {
    entries.removeAll { $0.client === client && $0.path == path }
    count()
    finished(client)
  }

  private func stop(_ entry: Entry) {
    if let number = entry.number {
      entry.client.session.callUnawaited(AdvertisingStop.self, AdvertisingStop.Params(advertising: number))
    }
    count()
    finished(entry.client)
  }

  /// The properties with the numbers of advertisements.
  private func count() {
    for (_, path) in adapters.paths {
      let active = entries.count { $0.place == path && $0.number != nil }
      for (name, value) in AdvertisingAbilities.counts(active: active) {
        context.tree.set(path, .advertisingManager, name, value)
      }
    }
  }

  // MARK: Events

  /// bled reports that an advertisement has ended by itself, or failed.
  func changed(_ params: AdvertisingChanged.Params, _ client: BusClient) {
    guard params.ended != nil || params.reason != nil,
      let entry = entries.first(where: { $0.client === client && $0.number == params.advertising })
    else { return }
    release(entry)
  }

  func lost(_ adapter: String) {
    for entry in entries where entry.place == adapter {
      stop(entry)
      release(entry)
    }
  }

  private func release(_ entry: Entry) {
    remove(entry.path, entry.client)
    entry.client.call(entry.path, Self.interface, "Release")
  }

  /// A program's object has changed: its content replaces the advertisement on the air.
  func signalled(_ signal: BusSignal, _ client: BusClient) {
    guard signal.interface == Interface.properties.rawValue, signal.member == "PropertiesChanged",
      signal.arguments.first?.string == Self.interface, let entry = entry(signal.path, client)
    else { return }
    if entry.isRead {
      change(signal.path, client) { $0.isStale = true }
    } else if entry.number != nil {
      start(signal.path, client) { _ in }
    }
  }

  /// bled is available again.
  func resume(_ client: BusClient) {
    for entry in entries where entry.client === client {
      change(entry.path, client) { $0.number = nil }
      // Uses the earlier content: a program may have withdrawn the object since. A registration under way ends with its
      // own answer.
      if !entry.isRead, let content = entry.content { send(content, entry.path, client) { _ in } }
    }
    count()
  }

  func has(_ client: BusClient) -> Bool { entries.contains { $0.client === client } }

  func left(_ client: BusClient) {
    entries.removeAll { $0.client === client }
    count()
  }
}
