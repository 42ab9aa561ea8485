import BledRPC
import Bluetooth

/// LEAdvertisingManager1: the advertisements of the programs, each sent by bled in the program's session.
final class Advertisements {
  private static let interface = "org.bluez.LEAdvertisement1"
  /// The number of advertisements that programs are told they can have at once: bled shares the controller's sets.
  private static let most = 8

  private struct Entry {
    let client: BusClient
    let path: String
    let adapter: String
    /// bled's number; nil until it is on the air.
    var number: Int?
  }

  private let context: Context
  private let adapters: Adapters
  private var entries: [Entry] = []

  init(_ context: Context, _ adapters: Adapters) {
    self.context = context
    self.adapters = adapters
  }

  func handle(_ call: BusCall, _ client: BusClient) {
    guard let path = call.arguments[0].path else { return context.fail(call, .invalidArguments) }
    let index = entries.firstIndex { $0.client === client && $0.path == path }
    switch (call.member, index) {
    case ("RegisterAdvertisement", nil): register(call, path, client)
    case ("RegisterAdvertisement", _): context.fail(call, .alreadyExists)
    case (_, let index?):
      stop(entries.remove(at: index))
      context.reply(call)
    default: context.fail(call, .doesNotExist)
    }
  }

  private func register(_ call: BusCall, _ path: String, _ client: BusClient) {
    guard entries.count(where: { $0.client === client }) < Self.most else {
      return context.fail(call, .notPermitted("Maximum advertisements reached"))
    }
    entries.append(Entry(client: client, path: path, adapter: call.path))
    context.bus.watch(client.name, true)
    start(path, client) { [weak self, context] result in
      if case .failure = result { self?.remove(path, client) }
      context.finish(call, result)
    }
  }

  /// Asks the program for its advertisement, and puts it on the air.
  private func start(_ path: String, _ client: BusClient, _ completion: @escaping (Result<Void, BusError>) -> Void) {
    context.bus.call(
      client.name, path, Interface.properties.rawValue, "GetAll", [.string(Self.interface)], timeout: .seconds(25)
    ) { [weak self] answer in
      guard let self, let entry = entry(path, client) else { return completion(.failure(.doesNotExist)) }
      let advertisement: Advertisement
      do throws(BusError) {
        guard case .success(let values) = answer, let value = values.first else {
          throw .failed("Failed to register advertisement")
        }
        advertisement = try Advertisement(
          ManagedObjects.properties(value), adapter: adapters.adapter(at: entry.adapter) ?? "",
          alias: context.tree.value(entry.adapter, .adapter, "Alias")?.string ?? "")
      } catch {
        return completion(.failure(error))
      }
      send(advertisement, path, client, completion)
    }
  }

  private func send(
    _ advertisement: Advertisement, _ path: String, _ client: BusClient,
    _ completion: @escaping (Result<Void, BusError>) -> Void
  ) {
    client.session.call(AdvertisingStart.self, advertisement.params) { [weak self] result in
      guard let self else { return }
      switch result {
      case .success(let started):
        guard let index = entries.firstIndex(where: { $0.client === client && $0.path == path }) else {
          client.session.tell(AdvertisingStop.self, AdvertisingStop.Params(advertising: started.advertising))
          return completion(.failure(.doesNotExist))
        }
        let former = entries[index].number
        entries[index].number = started.advertising
        if let former { client.session.tell(AdvertisingStop.self, AdvertisingStop.Params(advertising: former)) }
        count()
        completion(.success(()))
      case .failure(let error): completion(.failure(Self.error(error)))
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

  private func remove(_ path: String, _ client: BusClient) {
    entries.removeAll { $0.client === client && $0.path == path }
    count()
  }

  private func stop(_ entry: Entry) {
    if let number = entry.number {
      entry.client.session.tell(AdvertisingStop.self, AdvertisingStop.Params(advertising: number))
    }
    count()
  }

  /// The properties that tell how many there are.
  private func count() {
    for (_, path) in adapters.paths {
      let active = entries.count { $0.adapter == path && $0.number != nil }
      context.tree.set(path, .advertisingManager, "ActiveInstances", .byte(UInt8(clamping: active)))
      let left = max(0, Self.most - active)
      context.tree.set(path, .advertisingManager, "SupportedInstances", .byte(UInt8(clamping: left)))
    }
  }

  // MARK: Events

  /// bled says that an advertisement has ended by itself, or failed.
  func changed(_ params: AdvertisingChanged.Params, _ client: BusClient) {
    guard params.ended != nil || params.reason != nil,
      let entry = entries.first(where: { $0.client === client && $0.number == params.advertising })
    else { return }
    remove(entry.path, client)
    context.bus.call(client.name, entry.path, Self.interface, "Release", [], timeout: .seconds(25)) { _ in }
  }

  /// A program's object has changed: what it says now replaces what is on the air.
  func signalled(_ signal: BusSignal, _ client: BusClient) {
    guard signal.interface == Interface.properties.rawValue, signal.member == "PropertiesChanged",
      signal.arguments.first?.string == Self.interface, entry(signal.path, client)?.number != nil
    else { return }
    start(signal.path, client) { _ in }
  }

  /// bled is there again.
  func resume(_ client: BusClient) {
    for index in entries.indices where entries[index].client === client {
      entries[index].number = nil
      start(entries[index].path, client) { _ in }
    }
  }

  func has(_ client: BusClient) -> Bool { entries.contains { $0.client === client } }

  func left(_ client: BusClient) {
    entries.removeAll { $0.client === client }
    count()
  }
}
