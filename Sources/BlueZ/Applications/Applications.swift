import BledRPC
import Bluetooth

/// GattManager1: the applications of the programs, published at bled in the programs' sessions. Devices' reads and
/// writes become ReadValue and WriteValue of the program's objects.
final class Applications {
  private let context: Context
  private let adapters: Adapters
  private let devices: Devices
  private let notifier: Notifier
  private var publications: [Publication] = []
  /// The registrations that are under way, by program and path.
  private var pending: Set<[String]> = []
  /// The number of subscribed devices of each characteristic, by program and handle.
  private var subscribers: [String: [UInt16: Set<String>]] = [:]

  /// Called when a program has no application any more: its signals may not be wanted.
  var finished: (BusClient) -> Void = { _ in }

  init(_ context: Context, _ adapters: Adapters, _ devices: Devices) {
    self.context = context
    self.adapters = adapters
    self.devices = devices
    notifier = Notifier(context)
  }

  func handle(_ call: BusCall, _ client: BusClient) {
    guard let root = call.arguments[0].path else { return context.fail(call, .invalidArguments) }
    switch call.member {
    case "RegisterApplication": register(call, root, client)
    default:
      guard let index = publications.firstIndex(where: { $0.client === client && $0.root == root }) else {
        return context.fail(call, .doesNotExist)
      }
      publications.remove(at: index).end()
      unwatch(client)
      context.reply(call)
    }
  }

  private func register(_ call: BusCall, _ root: String, _ client: BusClient) {
    let isKnown = publications.contains { $0.client === client && $0.root == root }
    guard !isKnown, pending.insert([client.name, root]).inserted else { return context.fail(call, .alreadyExists) }
    guard let adapter = adapters.adapter(at: call.path) else { return context.fail(call, .doesNotExist) }
    context.bus.watch(client.name, true)
    context.bus.call(
      client.name, root, Interface.objectManager.rawValue, "GetManagedObjects", [], timeout: Publication.patience
    ) { [weak self] result in self?.received(result, call, root, adapter, client) }
  }

  private func received(
    _ answer: Result<[BusValue], BusError>, _ call: BusCall, _ root: String, _ adapter: String, _ client: BusClient
  ) {
    let application: Application
    do throws(BusError) {
      guard case .success(let values) = answer else { throw .failed("No object received") }
      application = try Application(ManagedObjects(values))
    } catch {
      return finish(call, root, client, .failure(error))
    }
    let publication = Publication(application, root: root, adapter: adapter, client: client, context: context)
    publications.append(publication)
    publication.start { [weak self] result in
      guard let self else { return }
      if case .failure = result { publications.removeAll { $0 === publication } }
      finish(call, root, client, result)
    }
  }

  private func finish(_ call: BusCall, _ root: String, _ client: BusClient, _ result: Result<Void, BusError>) {
    pending.remove([client.name, root])
    unwatch(client)
    context.finish(call, result)
  }

  private func unwatch(_ client: BusClient) {
    if !publications.contains(where: { $0.client === client }) { finished(client) }
  }

  func has(_ client: BusClient) -> Bool {
    publications.contains { $0.client === client } || pending.contains { $0[0] == client.name }
  }

  func left(_ client: BusClient) {
    for publication in publications where publication.client === client { publication.end() }
    publications.removeAll { $0.client === client }
    subscribers[client.name] = nil
    notifier.forget(client)
  }

  /// bled is there again.
  func resume(_ client: BusClient) {
    subscribers[client.name] = nil
    for publication in publications where publication.client === client { publication.restart() }
  }

  private func characteristic(_ handle: UInt16, of client: BusClient) -> String? {
    publications.lazy.filter { $0.client === client }.compactMap { $0.characteristic(handle)?.path }.first
  }

  // MARK: Devices

  private func options(_ central: String, offset: Int) -> BusValue {
    let path = devices.all(central).first?.path
    return .options(
      [("offset", .uint16(UInt16(clamping: offset))), ("link", .string("LE"))]
        + (path.map { [("device", BusValue.path($0))] } ?? []))
  }

  /// A device reads.
  func read(_ params: ServerRead.Params, _ id: RequestID, _ client: BusClient) {
    guard let path = characteristic(params.handle, of: client) else {
      return client.session.refuse(id, ApplicationError.unlikely)
    }
    call(client, path, "ReadValue", [options(params.central, offset: params.offset)]) { result in
      switch result.map({ $0.first?.bytes }) {
      case .success(let value?): client.session.answer(id, ServerRead.Result(value: HexBytes(value)))
      case .success(nil): client.session.refuse(id, ApplicationError.unlikely)
      case .failure(let error): client.session.refuse(id, ApplicationError.att(error, isRead: true))
      }
    }
  }

  /// A device has written one value or several.
  func write(_ params: ServerWrite.Params, _ id: RequestID, _ client: BusClient) {
    guard let first = params.writes.first else { return client.session.answer(id, Empty()) }
    guard let path = characteristic(first.handle, of: client) else {
      return client.session.refuse(id, ApplicationError.unlikely)
    }
    var rest = params
    rest.writes.removeFirst()
    call(
      client, path, "WriteValue", [.bytes(first.value.octets), options(params.central, offset: first.offset)]
    ) { [weak self] result in
      switch result {
      case .success: self?.write(rest, id, client)
      case .failure(let error): client.session.refuse(id, ApplicationError.att(error, isRead: false))
      }
    }
  }

  private func call(
    _ client: BusClient, _ path: String, _ method: String, _ values: [BusValue],
    _ completion: @escaping (Result<[BusValue], BusError>) -> Void = { _ in }
  ) {
    context.flush()
    context.bus.call(
      client.name, path, Interface.characteristic.rawValue, method, values, timeout: Publication.patience,
      completion: completion)
  }

  /// A device has subscribed, or ended that.
  func subscribed(_ params: Subscriber, _ isOn: Bool, _ client: BusClient) {
    let before = subscribers[client.name]?[params.handle] ?? []
    let after = isOn ? before.union([params.central]) : before.subtracting([params.central])
    subscribers[client.name, default: [:]][params.handle] = after
    guard before.isEmpty != after.isEmpty, let path = characteristic(params.handle, of: client) else { return }
    call(client, path, isOn ? "StartNotify" : "StopNotify", [])
  }

  /// A program's object has changed.
  func signalled(_ signal: BusSignal, _ client: BusClient) {
    guard signal.interface == Interface.properties.rawValue, signal.member == "PropertiesChanged",
      signal.arguments.count == 3, signal.arguments[0].string == Interface.characteristic.rawValue,
      let value = ManagedObjects.properties(signal.arguments[1])["Value"]?.bytes,
      let publication = publications.first(where: { $0.client === client && $0.handles[signal.path] != nil }),
      let handle = publication.handles[signal.path], subscribers[client.name]?[handle]?.isEmpty == false
    else { return }
    let isIndicated = publication.characteristic(handle)?.isIndicated == true
    notifier.send(value, handle, client) { [weak self] in
      if isIndicated { self?.call(client, signal.path, "Confirm", []) }
    }
  }

  /// There is room for values again.
  func ready(_ client: BusClient) { notifier.ready(client) }
}
