import Adapter
import BledRPC
import Bluetooth
import GATT
import Logging

/// Publishes all sessions' services in one database for all links. `ServerLink` handles the devices' requests.
final class ServerBroker: ServerRoles {
  /// Maximum devices whose losses are reported to a session at a time; a device may connect with ever new addresses.
  /// Losses of further devices are only counted.
  static let maximumUntold = 1024

  /// Makes sockets for values; nil where none can be watched.
  var sockets: ValueSockets?
  weak var observer: (any PublishersObserver)?
  private let adapters: AdapterRegistry
  private let links: LinkRegistry
  /// Our server roles, oldest link first.
  private(set) var serverLinks: [ServerLink] = []
  private let logger: Logger
  private var owners: [AttributeOwner: Session] = [:]
  /// The published services of sessions with a restoration identifier, by service handle.
  private var definitions: [UInt16: ServiceToPublish] = [:]
  /// The sessions whose value had no room, to be notified when there is some.
  private var waitingForRoom: Set<Session> = []
  private var lastIndication: UInt64 = 0
  private var lastQuestion = 0
  /// Sessions with too long answers, which are logged once.
  private var longAnswerers: Set<Session> = []

  /// - Parameter identity: the GAP service's values.
  init(adapters: AdapterRegistry, links: LinkRegistry, identity: ServerIdentity, logger: Logger) {
    self.adapters = adapters
    self.links = links
    self.logger = logger
    do {
      // They precede any services of programs.
      let access = try links.database.attributes.add(
        .genericAccess(
          name: identity.name, appearance: identity.appearance, preferredParameters: identity.preferredConnection),
        at: 1)
      _ = try links.database.attributes.add(
        .genericAttribute(
          hasHash: links.database.attributes.hasHash, hasEnhancedBearers: identity.hasEnhancedBearers),
        at: access.range.upperBound + 1)
    } catch {
      logger.error("the daemon's own services could not be published: \(error)")
    }
  }

  /// Changes the name and appearance read by devices.
  /// - Parameter appearance: nil leaves it as it is.
  func identify(name: String, appearance: UInt16? = nil) {
    let service = links.database.attributes.services.first { $0.uuid == 0x1800 && $0.owner == .local }
    let new = GATT.ServiceDefinition.genericAccess(name: name, appearance: appearance ?? 0).characteristics
    for characteristic in service?.characteristics ?? [] where appearance != nil || characteristic.uuid == 0x2A00 {
      guard case .stored(let value)? = new.first(where: { $0.uuid == characteristic.uuid })?.value else { continue }
      _ = links.database.attributes.setValue(value, of: characteristic.valueHandle)
    }
  }

  // MARK: Requests of sessions

  /// Publishes a service.
  /// - Parameter handle: the service's place before the start of the daemon.
  func add(
    _ params: ServiceAdd.Params, for session: Session, at handle: UInt16? = nil
  ) throws -> ServiceDescription {
    let owner = session.owner
    let definition = try ServiceDefinition(params.service)
    let audience = try params.service.adapter.map { try adapters.find($0).audience }
    let own = services(of: owner)
    let ofUser = links.database.attributes.services.filter { service in
      owners[service.owner].map { $0.user == session.user } ?? false
    }
    try session.rules.admit(.services, of: session, own: own.count, all: ofUser.count)
    try session.rules.admit(
      .attributes, more: definition.attributeCount, of: session, own: own.reduce(0) { $0 + $1.range.count },
      all: ofUser.reduce(0) { $0 + $1.range.count })
    let handles = Set(own.map(\.range.lowerBound))
    for handle in definition.includes where !handles.contains(handle) {
      throw BledError.unknownHandle.error(
        "this session has published no service with handle \(handle.handleText) to include")
    }
    let service: RegisteredService
    do {
      service = try links.database.add(definition, for: session, audience: audience, at: handle)
    } catch {
      throw error.bluetoothError
    }
    owners[owner] = session
    if session.restoration != nil { definitions[service.range.lowerBound] = params.service }
    changed(service.range, for: audience)
    links.serviceAdded(service.range)
    let included = Set(definition.includes)
    let includes = own.filter { included.contains($0.range.lowerBound) }
    return ServiceDescription(service, includes: includes.map { ServiceDescription($0, includes: nil) }.nonEmpty)
  }

  /// Removes a session's service, or all of them.
  func remove(_ handle: UInt16?, for session: Session) throws {
    guard let handle else { return removeAll(of: session) }
    guard let service = services(of: session.owner).first(where: { $0.range.lowerBound == handle }),
      let range = links.database.attributes.remove(service: handle)
    else {
      throw BledError.unknownHandle.error("this session has published no service with handle \(handle.handleText)")
    }
    definitions[handle] = nil
    changed(range, for: service.audience)
  }

  /// A session's published characteristic.
  func characteristic(at handle: UInt16, of session: Session) throws -> RegisteredCharacteristic {
    guard let service = links.database.attributes.service(containing: handle), service.owner == session.owner,
      let characteristic = service.characteristics.first(where: { $0.valueHandle == handle })
    else {
      throw BledError.unknownHandle.error(
        "this session has published no characteristic with handle \(handle.handleText)")
    }
    return characteristic
  }

  /// Requests other connection parameters from a device that connected to us and uses the session's services.
  func setLatency(_ params: ServerSetLatency.Params, for session: Session, _ reply: Reply<Empty>) throws {
    guard let hub = link(serving: params.central, by: session)?.hub, hub.link.role == .peripheral else {
      throw GAPError.notConnected.error(
        "no device \(params.central.excerpt) that uses this session's services is connected")
    }
    hub.setWish(try CheckedWish(LinkWish(params.latency)), of: session) { error in
      if let error { reply.fail(error) } else { reply.succeed(Empty()) }
    }
  }

  /// The link with this device, if it uses the session's services.
  func link(serving device: String, by session: Session) -> ServerLink? {
    serverLinks.first { $0.hub.peripheral.id.hasSameOctets(as: device) && $0.served.contains(session) }
  }

  /// A session's services.
  func services(of session: Session) -> [SessionDescription.Service] {
    services(of: session.owner).map { .init(handle: $0.range.lowerBound, uuid: $0.uuid) }
  }

  // MARK: Ends of sessions

  /// A session has ended: its services go, and pending requests of devices are refused.
  func ended(_ session: Session) {
    waitingForRoom.remove(session)
    removeAll(of: session)
    for link in serverLinks { link.ended(session) }
    owners[session.owner] = nil
    longAnswerers.remove(session)
  }

  /// The session's program has disconnected: requests to it wait until it is back, or the device gives up.
  func programGone(_ session: Session) {
    for link in serverLinks { link.programGone(session) }
  }

  /// The session's program is back: it receives the waiting requests, in order.
  func programReturned(_ session: Session) {
    let waiting = serverLinks.flatMap { link in
      link.waitingQuestions(for: session).map { (number: $0, link: link) }
    }
    for question in waiting.sorted(by: { $0.number < $1.number }) {
      question.link.programReturned(to: question.number)
    }
  }

  /// A session's services with their subscribers.
  func published(by session: Session) -> [RestoredState.Service] {
    let own = services(of: session.owner)
    let plain = Dictionary(
      own.map { ($0.range.lowerBound, ServiceDescription($0, includes: nil)) }, uniquingKeysWith: { first, _ in first })
    return own.sorted { $0.range.lowerBound < $1.range.lowerBound }.compactMap { service in
      guard let definition = definitions[service.range.lowerBound] else { return nil }
      let includes = (definition.includes ?? []).compactMap { plain[$0] }.nonEmpty
      return .init(
        service: ServiceDescription(service, includes: includes), definition: definition,
        subscribers: service.characteristics.flatMap { subscribers(to: $0.valueHandle) })
    }
  }

  private func subscribers(to handle: UInt16) -> [Subscriber] {
    serverLinks.filter { !$0.hub.subscription(of: handle).isEmpty }.map { $0.subscriber(to: handle) }
  }

  /// Publishes a preserved session's services, with their former handles if these are free.
  func restore(_ services: [RestoredState.Service], for session: Session) {
    var handles: [UInt16: UInt16] = [:]
    for service in services {
      var definition = service.definition
      definition.includes = definition.includes?.map { handles[$0] ?? $0 }
      do {
        let added = try add(.init(service: definition), for: session, at: service.service.handle)
        handles[service.service.handle] = added.handle
      } catch {
        logger.warning(
          "service \(definition.uuid) of a preserved session could not be published again: \(error)",
          metadata: .about(session: session))
      }
    }
  }

  // MARK: For the links

  func serverRole(on hub: LinkHub) -> any ServerRole { ServerLink(on: hub, broker: self) }

  func began(_ link: ServerLink) { serverLinks.append(link) }

  func ended(_ link: ServerLink) { serverLinks.removeAll { $0 === link } }

  /// The owner's session; nil for the daemon itself, and for an ended session.
  func session(of owner: AttributeOwner) -> Session? { owners[owner] }

  /// The session publishing the attribute at this handle.
  func session(publishing handle: UInt16) -> Session? {
    links.database.attributes.service(containing: handle).flatMap { owners[$0.owner] }
  }

  /// Numbers the indications to all devices.
  func nextIndication() -> IndicationID {
    lastIndication += 1
    return IndicationID(lastIndication)
  }

  /// Numbers the requests of all devices.
  func nextQuestion() -> Int {
    lastQuestion += 1
    return lastQuestion
  }

  /// Logs once per session an answer with a value that cannot be sent.
  func logLongAnswer(of session: Session, handle: UInt16, length: Int) {
    guard longAnswerers.insert(session).inserted else { return }
    logger.warning(
      """
      session \(session.id) \(session.name) answered server.read of handle \(handle.handleText) with a value of \(length) octets; \
      the limit is \(Attribute.longestValue), devices get Unlikely Error
      """, metadata: .about(session: session))
  }

  /// A session's value was refused: it is notified when there is room.
  func wait(_ session: Session, for full: [LinkRoom]) {
    for room in full { room.refuse(session) }
    waitingForRoom.insert(session)
  }

  /// Notifies sessions with a refused value on a link that there is room. A session without room on another link is
  /// refused and notified again.
  func roomAgain(for sessions: [Session]) {
    for session in sessions where waitingForRoom.remove(session) != nil { session.send(ServerReady.self, Empty()) }
  }

  /// Records dropped packets from a device that were, or may have been, for a session, and reports them to the session
  /// as soon as it has room: the device never learns the outcome of Write Commands.
  static func recordLoss(of packets: Int, from central: String, to session: Session) {
    let isFirst = session.untoldLosses.isEmpty
    guard session.untoldLosses[central] != nil || session.untoldLosses.count < maximumUntold else { return }
    session.untoldLosses[central, default: 0] += packets
    guard isFirst else { return }
    if !session.outbox.isCongested { tellLosses(to: session) }
    guard !session.untoldLosses.isEmpty else { return }
    session.whenRelieved { [weak session] in
      if let session { tellLosses(to: session) }
    }
  }

  static func tellLosses(to session: Session) {
    guard !session.untoldLosses.isEmpty else { return }
    for (central, packets) in session.untoldLosses.sorted(by: { $0.key < $1.key }) {
      let params = ServerWritesLost.Params(central: central, packets: packets)
      let line = session.encoded { try RPCEncoding.notification(ServerWritesLost.self, params) }
      guard session.send(line, as: .value) == .queued else { return }
      session.untoldLosses[central] = nil
    }
  }

  /// The users publishing services.
  var users: [UInt32?] {
    let publishing = Set(links.database.attributes.services.map(\.owner))
    return owners.filter { publishing.contains($0.key) }.map(\.value).sorted { $0.id < $1.id }.map(\.user)
  }

  // MARK: Inside

  private func services(of owner: AttributeOwner) -> [RegisteredService] {
    links.database.attributes.services.filter { $0.owner == owner }
  }

  private func removeAll(of session: Session) {
    for service in services(of: session.owner) {
      links.database.attributes.remove(service: service.range.lowerBound)
      definitions[service.range.lowerBound] = nil
      changed(service.range, for: service.audience)
    }
  }

  private func changed(_ range: ClosedRange<UInt16>, for audience: Audience?) {
    for link in serverLinks where audience == nil || audience == link.hub.slot.audience {
      link.servicesChanged(range)
      link.hub.databaseChanged(range)
    }
    observer?.publishersChanged()
  }
}

extension Session {
  /// The owner number of a session's services in the database; 0 is the daemon itself.
  var owner: AttributeOwner { AttributeOwner(UInt64(id)) }
}

extension LinkWish {
  /// The intervals are multiples of 15 ms with room above, accepted by every central; the timeout suits a reliable
  /// link.
  fileprivate init(_ latency: ConnectionLatency) {
    switch latency {
    case .low: self.init(minimumInterval: 0.015, maximumInterval: 0.03, latency: 0, timeout: 5)
    case .medium: self.init(minimumInterval: 0.09, maximumInterval: 0.12, latency: 0, timeout: 5)
    case .high: self.init(minimumInterval: 0.48, maximumInterval: 0.51, latency: 0, timeout: 5)
    }
  }
}
