import ATT
import BledRPC
import Bluetooth
import GATT
import Logging

/// Publishes the services of all sessions in one database, and hands each session what devices ask of its own.
final class PeripheralBroker {
  private struct Question: Hashable {
    let link: DeviceLink
    let token: QuestionToken
  }

  /// What a device waits for a session to answer.
  private struct Asked {
    let session: Session
    /// Grows from one to the next.
    let number: Int
    /// Calls the session.
    let ask: () -> OutgoingCalls.Number
    /// The call; nil while the program is gone.
    var call: OutgoingCalls.Number?
  }

  let links: LinkRegistry
  let logger: Logger
  /// The sessions that use a device as centrals. Set before the first link is there.
  var users: (DeviceLink) -> [Session] = { _ in [] }
  private var owners: [AttributeOwner: Session] = [:]
  private var questions: [Question: Asked] = [:]
  private var lastQuestion = 0
  /// What sessions that are kept when their programs go away published, by handle of the service.
  var definitions: [UInt16: ServiceToPublish] = [:]
  private let notifier: Notifier
  /// Sessions whose answers were too long, which the log says once.
  private var talkers: Set<Session> = []

  /// - Parameter identity: what the GAP service says.
  init(links: LinkRegistry, identity: Daemon.Identity, logger: Logger) {
    self.links = links
    self.logger = logger
    notifier = Notifier(links: links)
    do {
      _ = try links.database.attributes.add(
        .genericAccess(
          name: identity.name, appearance: identity.appearance, preferredParameters: identity.preferredConnection))
      _ = try links.database.attributes.add(.genericAttribute(hasHash: links.database.attributes.hasHash))
    } catch {
      logger.error("the daemon's own services could not be published: \(error)")
    }
  }

  /// Changes what devices read of this machine.
  func identify(name: String, appearance: UInt16) {
    let service = links.database.attributes.services.first { $0.uuid == 0x1800 && $0.owner == .local }
    let new = GATT.ServiceDefinition.genericAccess(name: name, appearance: appearance).characteristics
    for characteristic in service?.characteristics ?? [] {
      guard case .stored(let value)? = new.first(where: { $0.uuid == characteristic.uuid })?.value else { continue }
      _ = links.database.attributes.setValue(value, of: characteristic.valueHandle)
    }
  }

  // MARK: What sessions ask for

  /// - Parameter handle: where the service was before this daemon was started.
  func add(
    _ params: ServiceAdd.Params, for session: Session, at handle: UInt16? = nil
  ) throws -> ServiceDescription {
    let owner = session.owner
    let definition = try ServiceDefinition(params.service)
    let own = services(of: owner)
    let ofUser = links.database.attributes.services.filter { service in
      owners[service.owner].map { $0.user == session.user } ?? false
    }
    try session.rules.admit(.services, of: session, own: own.count, all: ofUser.count)
    try session.rules.admit(
      .attributes, more: definition.attributeCount, of: session, own: own.reduce(0) { $0 + $1.range.count },
      all: ofUser.reduce(0) { $0 + $1.range.count })
    for handle in definition.includes where !own.contains(where: { $0.range.lowerBound == handle }) {
      throw BledError.unknownHandle.error("this session has published no service with handle \(handle) to include")
    }
    let service: RegisteredService
    do {
      service = try links.database.attributes.add(definition, owner: owner, at: handle)
    } catch {
      throw error.bluetoothError
    }
    owners[owner] = session
    if session.restoration != nil { definitions[service.range.lowerBound] = params.service }
    changed(service.range)
    let includes = own.filter { definition.includes.contains($0.range.lowerBound) }
    return ServiceDescription(service, includes: includes.map { ServiceDescription($0, includes: nil) }.nonEmpty)
  }

  func remove(_ handle: UInt16?, for session: Session) throws {
    guard let handle else { return removeAll(of: session) }
    guard services(of: session.owner).contains(where: { $0.range.lowerBound == handle }),
      let range = links.database.attributes.remove(service: handle)
    else { throw BledError.unknownHandle.error("this session has published no service with handle \(handle)") }
    definitions[handle] = nil
    changed(range)
  }

  func notify(_ params: ServerNotify.Params, for session: Session) throws -> ServerNotify.Result {
    guard let service = links.database.attributes.service(containing: params.handle), service.owner == session.owner,
      let characteristic = service.characteristics.first(where: { $0.valueHandle == params.handle })
    else {
      throw BledError.unknownHandle.error("this session has published no characteristic with handle \(params.handle)")
    }
    guard !characteristic.properties.isDisjoint(with: [.notify, .indicate]) else {
      throw BledError.notAllowedByProperties.error(
        "characteristic \(params.handle) has neither \"notify\" nor \"indicate\"")
    }
    guard params.value.octets.count <= Attribute.longestValue else {
      throw BledError.invalidParameter.error("\"value\" has \(params.value.octets.count) octets; 512 is the most")
    }
    return notifier.send(params.value.octets, of: params.handle, to: params.centrals.map(Set.init), for: session)
  }

  /// A session has ended: its services go, and what devices wait for is refused.
  func ended(_ session: Session) {
    notifier.forget(session)
    removeAll(of: session)
    for device in links.links { device.ownerGone(session) }
    questions = questions.filter { $0.value.session != session }
    owners[session.owner] = nil
    talkers.remove(session)
  }

  /// The program of a session is gone: what it was asked waits until it is back, or the device has no more patience.
  func lost(_ session: Session) {
    for (key, asked) in questions where asked.session == session { questions[key]?.call = nil }
    for device in links.links where device.served.contains(session) { device.releaseBrake() }
  }

  /// The program of a session is back.
  func returned(_ session: Session) {
    let waiting = questions.filter { $0.value.session == session && $0.value.call == nil }
    for (key, asked) in waiting.sorted(by: { $0.value.number < $1.value.number }) {
      questions[key]?.call = asked.ask()
    }
  }

  /// The services of a session.
  func services(of session: Session) -> [SessionDescription.Service] {
    services(of: session.owner).map { .init(handle: $0.range.lowerBound, uuid: $0.uuid) }
  }

  // MARK: What links tell

  func handle(_ event: DeviceLink.Event, on device: DeviceLink) {
    switch event {
    case .read(let question): ask(question, on: device)
    case .write(let question): hand(question, on: device)
    case .questionCancelled(let token):
      guard let open = questions.removeValue(forKey: Question(link: device, token: token)) else { return }
      if let call = open.call { open.session.calls.forget(call) }
    case .subscriptionChanged(let handle, let configuration):
      subscriptionChanged(handle, isOn: !configuration.isEmpty, on: device)
    case .indicationFinished(let id): notifier.finished(id, on: device)
    case .writable: notifier.roomAgain()
    case .ended: notifier.ended(device)
    case .packetsLost(let count): lost(count, on: device)
    case .value, .servicesChanged, .cacheChanged, .cacheVoid, .mtuChanged: break
    }
  }

  private func ask(_ question: ReadQuestion, on device: DeviceLink) {
    guard let session = owners[question.owner] else { return device.answer(question.token, .failure(.unlikelyError)) }
    device.serves(session)
    let key = Question(link: device, token: question.token)
    let params = ServerRead.Params(
      central: device.peripheral.id, handle: question.handle, offset: Int(question.offset))
    ask(session, key) { [unowned self] in
      session.call(ServerRead.self, params) { [unowned self] answer in
        questions[key] = nil
        device.answer(question.token, checked(answer, to: params, of: session))
      }
    }
  }

  /// What the device is told. Of a value that is too long it could only have the beginning, and not know that there was more.
  private func checked(
    _ answer: Result<ServerRead.Result, RPCError>, to params: ServerRead.Params, of session: Session
  ) -> Result<[UInt8], ATTErrorCode> {
    let length = params.offset + ((try? answer.get())?.value.octets.count ?? 0)
    guard length > Attribute.longestValue else { return answer.map(\.value.octets).mapError(\.attErrorCode) }
    if talkers.insert(session).inserted {
      logger.warning(
        "session \(session.id) \(session.name) answered server.read of handle \(params.handle) with a value of \(length) octets; 512 is the most, devices get Unlikely Error"
      )
    }
    return .failure(.unlikelyError)
  }

  private func hand(_ question: WriteQuestion, on device: DeviceLink) {
    let params = ServerWrite.Params(
      central: device.peripheral.id,
      writes: question.writes.map { .init(handle: $0.handle, offset: Int($0.offset), value: HexBytes($0.value)) })
    guard let session = owners[question.owner] else {
      if let token = question.token { device.answer(token, .unlikelyError) }
      return
    }
    device.serves(session)
    guard let token = question.token else { return hand(params, to: session, from: device) }
    let key = Question(link: device, token: token)
    ask(session, key) { [unowned self] in
      session.call(ServerWrite.self, params) { [unowned self] answer in
        questions[key] = nil
        switch answer {
        case .success: device.answer(token, nil)
        case .failure(let error): device.answer(token, error.attErrorCode)
        }
      }
    }
  }

  private func ask(_ session: Session, _ key: Question, _ ask: @escaping () -> OutgoingCalls.Number) {
    lastQuestion += 1
    questions[key] = Asked(
      session: session, number: lastQuestion, ask: ask, call: session.isPresent ? ask() : nil)
    if !session.isPresent { session.kept() }
  }

  private func subscriptionChanged(_ handle: UInt16, isOn: Bool, on device: DeviceLink) {
    // A session that took the service back need not hear of it.
    guard let owner = links.database.attributes.service(containing: handle)?.owner, let session = owners[owner] else {
      return
    }
    device.serves(session)
    let subscriber = Subscriber(central: device.peripheral.id, handle: handle, maximumLength: device.mtu - 3)
    if isOn {
      session.send(ServerSubscribed.self, subscriber)
    } else {
      session.send(ServerUnsubscribed.self, subscriber)
    }
  }

  // MARK: Inside

  func services(of owner: AttributeOwner) -> [RegisteredService] {
    links.database.attributes.services.filter { $0.owner == owner }
  }

  private func removeAll(of session: Session) {
    for range in links.database.attributes.removeAll(owner: session.owner) {
      definitions[range.lowerBound] = nil
      changed(range)
    }
  }

  private func changed(_ range: ClosedRange<UInt16>) {
    for device in links.links { device.databaseChanged(range) }
  }
}

extension Session {
  /// Under which the database keeps the services of a session; 0 is the daemon itself.
  var owner: AttributeOwner { AttributeOwner(UInt64(id)) }
}

extension RPCError {
  /// What a device is told when a session refuses: the ATT error that the session chose, else Unlikely Error.
  fileprivate var attErrorCode: ATTErrorCode {
    guard let data, data.domain == .att, let code = UInt8(exactly: data.code), code != 0 else { return .unlikelyError }
    return ATTErrorCode(rawValue: code)
  }
}
