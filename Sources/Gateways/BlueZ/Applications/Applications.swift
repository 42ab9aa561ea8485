import BledRPC
import Bluetooth

/// GattManager1: the applications of the programs, published at bled in the programs' sessions. Devices' reads and
/// writes become ReadValue and WriteValue of the program's objects.
final class Applications: Registry {
  /// The services of an application's profiles, at the path of an adapter.
  typealias Profile = (client: BusClient, place: String, services: Set<BluetoothUUID>)

  private let context: Context
  private let adapters: Adapters
  private let devices: Devices
  private let identification: Identification
  private let notifier: Notifier
  private let sockets: ApplicationSockets
  private var publications: [Publication] = []
  /// The registrations that are under way, by program and path.
  private var pending: Set<[String]> = []
  /// bled's names of the subscribed devices of each characteristic, by program and handle.
  private var subscribers: [String: [UInt16: Set<String>]] = [:]
  private var reads = LongReads()

  var finished: (BusClient) -> Void = { _ in }
  /// Called when a program has more profiles, or less.
  var profilesChanged: () -> Void = {}

  init(_ context: Context, _ adapters: Adapters, _ devices: Devices, _ identification: Identification) {
    self.context = context
    self.adapters = adapters
    self.devices = devices
    self.identification = identification
    notifier = Notifier(context)
    sockets = ApplicationSockets(context)
    sockets.received = { [unowned self] in notify($0, $1, $2) }
    notifier.crowded = { [unowned self] in sockets.hold($0, $1) }
  }

  func unregister(_ call: BusCall, _ client: BusClient) {
    let root = call.arguments[0].path
    guard let publication = publications.first(where: { $0.client === client && $0.root == root }) else {
      return context.fail(call, .doesNotExist)
    }
    end { $0 === publication }
    finished(client)
    context.reply(call)
  }

  func register(_ call: BusCall, _ client: BusClient) {
    guard let root = call.arguments[0].path else { return context.fail(call, .invalidArguments) }
    guard let adapter = adapters.adapter(at: call.path) else { return context.fail(call, .doesNotExist) }
    let isKnown = publications.contains { $0.client === client && $0.root == root }
    guard !isKnown, pending.insert([client.name, root]).inserted else { return context.fail(call, .alreadyExists) }
    context.bus.watch(client.name, true)
    client.call(root, Interface.objectManager.rawValue, "GetManagedObjects") { [weak self] result in
      self?.received(result, call, root, adapter, client)
    }
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
    let publication = Publication(application, root: root, place: call.path, adapter: adapter, client: client)
    publications.append(publication)
    publication.start { [weak self] result in
      guard let self else { return }
      if case .failure = result { publications.removeAll { $0 === publication } }
      finish(call, root, client, result)
      profilesChanged()
    }
  }

  private func finish(_ call: BusCall, _ root: String, _ client: BusClient, _ result: Result<Void, BusError>) {
    pending.remove([client.name, root])
    finished(client)
    context.finish(call, result)
  }

  var profiles: [Profile] {
    publications.filter { $0.isPublished && !$0.wanted.isEmpty }.map { ($0.client, $0.place, Set($0.wanted)) }
  }

  func has(_ client: BusClient) -> Bool {
    publications.contains { $0.client === client } || pending.contains { $0[0] == client.name }
  }

  func left(_ client: BusClient) {
    end(hasLeft: true) { $0.client === client }
    sockets.forget(client)
    subscribers[client.name] = nil
    notifier.forget(client)
    reads.forget(client.name)
  }

  func lost(_ adapter: String) { end { $0.place == adapter } }

  private func end(hasLeft: Bool = false, _ isMeant: (Publication) -> Bool) {
    let ended = publications.filter(isMeant)
    publications.removeAll { publication in ended.contains { $0 === publication } }
    for publication in ended {
      publication.end(hasLeft: hasLeft)
      sockets.forget(publication.client, where: publication.has)
    }
    if !ended.isEmpty { profilesChanged() }
  }

  /// bled is available again, without subscribers and services.
  func resume(_ client: BusClient) {
    subscribers[client.name] = nil
    notifier.forget(client)
    sockets.forgetValues(client)
    for publication in publications where publication.client === client {
      publication.restart { [weak self, context] result in
        if case .success = result { self?.profilesChanged() }
        // Without bled it is published again once bled is available.
        guard case .failure(let error) = result, error != .notReady, !publication.isEnded else { return }
        self?.end { $0 === publication }
        self?.finished(client)
        context.say(
          "the application \(publication.root) of the program \(client.name) could not be published again: "
            + error.message)
      }
    }
  }

  private func attribute(_ handle: UInt16, of client: BusClient) -> Publication.Attribute? {
    publications.lazy.filter { $0.client === client }.compactMap { $0.attribute(handle) }.first
  }

  // MARK: Devices

  private func options(_ central: String, offset: Int, mtu: Int?, type: String? = nil) -> BusValue {
    let device = devices.all(central).first?.path
    let always: [(String, BusValue)] = [("offset", .uint16(UInt16(clamping: offset))), ("link", .string("LE"))]
    let known: [(String, BusValue?)] = [
      ("device", device.map(BusValue.path)), ("mtu", mtu.map { .uint16(UInt16(clamping: $0)) }),
      ("type", type.map(BusValue.string)),
    ]
    return .options(always + known.compactMap { name, value in value.map { (name, $0) } })
  }

  /// A device reads.
  func read(_ params: ServerRead.Params, _ id: RequestID, _ client: BusClient) {
    // The answer belongs to the asking session, even if the program has another one later.
    let session = client.session
    guard let attribute = attribute(params.handle, of: client) else {
      return session.refuse(id, ApplicationError.unlikely)
    }
    let (handle, central, offset) = (params.handle, params.central, params.offset)
    if offset > 0, let part = reads.part(from: offset, handle, central, of: client.name, at: context.clock.now) {
      return session.answer(id, ServerRead.Result(value: HexBytes(part)))
    }
    identification.identify(central) { [self] in
      let options = options(central, offset: offset, mtu: params.mtu)
      call(client, attribute, "ReadValue", [options]) { [self] result in
        switch result.map({ $0.first?.bytes }) {
        case .success(let value?):
          let now = context.clock.now
          if offset == 0 { reads.began(value, handle, central, of: client.name, at: now) }
          let part = offset == 0 ? value : reads.answer(value, handle, central, of: client.name, at: now)
          session.answer(id, ServerRead.Result(value: HexBytes(part)))
        case .success(nil): session.refuse(id, ApplicationError.unlikely)
        case .failure(let error):
          // Some programs export the values of descriptors as properties alone.
          if error.isOfMissingMethod, let value = attribute.value {
            session.answer(id, ServerRead.Result(value: HexBytes(Array(value.dropFirst(offset)))))
          } else {
            session.refuse(id, ApplicationError.att(error, isRead: true))
          }
        }
      }
    }
  }

  /// A device has written one value or several.
  func write(_ params: ServerWrite.Params, _ id: RequestID, _ client: BusClient) {
    let session = client.session
    let type = params.withoutResponse == true ? "command" : params.writes.count > 1 ? "reliable" : "request"
    identification.identify(params.central) { [self] in
      write(params.writes[...], params, type, client) { error in
        if let error { session.refuse(id, error) } else { session.answer(id, Empty()) }
      }
    }
  }

  private func write(
    _ writes: ArraySlice<ServerWrite.Write>, _ params: ServerWrite.Params, _ type: String, _ client: BusClient,
    _ completion: @escaping (RPCError?) -> Void
  ) {
    guard let write = writes.first else { return completion(nil) }
    guard let attribute = attribute(write.handle, of: client) else { return completion(ApplicationError.unlikely) }
    deliver(write, to: attribute, params, type, client) { [weak self] error in
      if let error { return completion(error) }
      self?.write(writes.dropFirst(), params, type, client, completion)
    }
  }

  /// Passes a value to the program, over its socket if there is one. A packet has no offset.
  private func deliver(
    _ write: ServerWrite.Write, to attribute: Publication.Attribute, _ params: ServerWrite.Params,
    _ type: String, _ client: BusClient, _ completion: @escaping (RPCError?) -> Void
  ) {
    let byCall = { [weak self] in
      guard let self else { return }
      let options = options(params.central, offset: write.offset, mtu: params.mtu, type: type)
      call(client, attribute, "WriteValue", [.bytes(write.value.octets), options]) { result in
        if case .failure(let error) = result {
          completion(ApplicationError.att(error, isRead: false))
        } else {
          completion(nil)
        }
      }
    }
    guard attribute.sockets.contains(.writes), write.offset == 0 else { return byCall() }
    let link = options(params.central, offset: 0, mtu: params.mtu)
    sockets.write(write.value.octets, attribute.path, client, link) { $0 ? completion(nil) : byCall() }
  }

  private func call(
    _ client: BusClient, _ attribute: Publication.Attribute, _ method: String, _ values: [BusValue] = [],
    _ completion: @escaping ProgramCalls.Completion = { _ in }
  ) {
    client.call(attribute.path, attribute.interface.rawValue, method, values, completion)
  }

  /// A device has subscribed, or ended that.
  func subscribed(_ params: Subscriber, _ isOn: Bool, _ client: BusClient) {
    let before = subscribers[client.name]?[params.handle] ?? []
    let after = isOn ? before.union([params.central]) : before.subtracting([params.central])
    subscribers[client.name, default: [:]][params.handle] = after
    guard before.isEmpty != after.isEmpty, let attribute = attribute(params.handle, of: client) else { return }
    guard isOn else {
      if !sockets.end(attribute.path, client) { call(client, attribute, "StopNotify") }
      return
    }
    guard attribute.sockets.contains(.values) else { return call(client, attribute, "StartNotify") }
    let link = options(params.central, offset: 0, mtu: params.maximumLength + 3)
    sockets.begin(attribute.path, client, link) { [weak self] isOpen in
      if !isOpen { self?.call(client, attribute, "StartNotify") }
    }
  }

  /// A program's object has changed.
  func signalled(_ signal: BusSignal, _ client: BusClient) {
    guard signal.interface == Interface.properties.rawValue, signal.member == "PropertiesChanged",
      signal.arguments.count == 3, signal.arguments[0].string == Interface.characteristic.rawValue,
      let value = ManagedObjects.properties(signal.arguments[1])["Value"]?.bytes
    else { return }
    notify(value, signal.path, client)
  }

  private func notify(_ value: [UInt8], _ path: String, _ client: BusClient) {
    guard let publication = publications.first(where: { $0.client === client && $0.handles[path] != nil }),
      let handle = publication.handles[path], let attribute = publication.attribute(handle),
      subscribers[client.name]?[handle]?.isEmpty == false
    else { return }
    notifier.send(value, handle, client, isConfirmed: attribute.canIndicate)
  }

  /// A device has confirmed an indication, or will not.
  func confirmed(_ params: ServerConfirmed.Params, _ client: BusClient) {
    guard params.error == nil, let attribute = attribute(params.handle, of: client) else { return }
    call(client, attribute, "Confirm")
  }

  /// There is room for values again.
  func ready(_ client: BusClient) { notifier.ready(client) }
}
