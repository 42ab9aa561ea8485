import BledRPC
import Bluetooth

/// One application while it is published: its services at bled, one after another, and the way between handles and
/// objects.
final class Publication {
  /// An attribute that devices read and write, and the program has its value.
  struct Attribute {
    let path: String
    let interface: Interface
    /// The directions in which values are passed over sockets.
    var sockets: Set<AcquiredDirection> = []
    /// True if devices may choose indications, which they confirm.
    var canIndicate = false
    /// The value for a program that cannot be asked.
    var value: [UInt8]?
  }

  let client: BusClient
  /// The path that the program registered.
  let root: String
  /// The path of the adapter at which it is registered.
  let place: String
  private let adapter: String
  private let application: Application
  /// The handles of the services' declarations, by path.
  private var services: [String: UInt16] = [:]
  /// The handles of the characteristics' values, by path.
  private(set) var handles: [String: UInt16] = [:]
  private var attributes: [UInt16: Attribute] = [:]
  private(set) var isEnded = false
  /// True if all services are published.
  private(set) var isPublished = false

  init(_ application: Application, root: String, place: String, adapter: String, client: BusClient) {
    self.application = application
    self.root = root
    self.place = place
    self.adapter = adapter
    self.client = client
  }

  /// The services for which devices are connected automatically.
  var wanted: [BluetoothUUID] { application.profiles.flatMap(\.uuids) }

  /// True if a path belongs to one of its characteristics.
  func has(_ path: String) -> Bool {
    application.services.contains { $0.characteristics.contains { $0.path == path } }
  }

  func attribute(_ handle: UInt16) -> Attribute? { attributes[handle] }

  /// Publishes all services, or none.
  func start(_ completion: @escaping (Result<Void, BusError>) -> Void) {
    add(0) { [self] result in
      if case .failure = result { end() }
      completion(result)
    }
  }

  /// Publishes them again, in a new session.
  func restart(_ completion: @escaping (Result<Void, BusError>) -> Void) {
    (services, handles, attributes, isPublished) = ([:], [:], [:], false)
    add(0, completion)
  }

  /// - Parameter hasLeft: true if the program has left the bus.
  func end(hasLeft: Bool = false) {
    guard !isEnded else { return }
    isEnded = true
    if !hasLeft {
      for profile in application.profiles { client.call(profile.path, Application.profile, "Release") }
    }
    for handle in services.values {
      client.session.callUnawaited(ServiceRemove.self, ServiceRemove.Params(handle: handle))
    }
  }

  private func add(_ index: Int, _ completion: @escaping (Result<Void, BusError>) -> Void) {
    guard !isEnded else { return completion(.failure(.doesNotExist)) }
    guard index < application.services.count else {
      isPublished = true
      return completion(.success(()))
    }
    let service = application.services[index]
    let session = client.session
    session.call(ServiceAdd.self, ServiceAdd.Params(service: toPublish(service))) { [self] result in
      switch result {
      case .success(let published):
        // While bled added the service the program has unregistered its application.
        guard !isEnded else {
          session.callUnawaited(ServiceRemove.self, ServiceRemove.Params(handle: published.service.handle))
          return completion(.failure(.doesNotExist))
        }
        added(service, published.service)
        add(index + 1, completion)
      case .failure(let error):
        completion(.failure(BusError(error, otherwise: .failed("Failed to create entry in database"))))
      }
    }
  }

  private func toPublish(_ service: Application.Service) -> ServiceToPublish {
    ServiceToPublish(
      uuid: service.uuid, primary: service.isPrimary, includes: service.includes.compactMap { services[$0] },
      characteristics: service.characteristics.map { characteristic in
        ServiceToPublish.Characteristic(
          uuid: characteristic.uuid, properties: characteristic.access.properties,
          permissions: characteristic.access.permissions,
          descriptors: characteristic.descriptors.map {
            ServiceToPublish.Descriptor(uuid: $0.uuid, permissions: $0.permissions.isEmpty ? nil : $0.permissions)
          })
      }, adapter: adapter)
  }

  /// bled describes the characteristics in the given order, and likewise the descriptors of each, before the ones that
  /// bled adds.
  private func added(_ service: Application.Service, _ published: ServiceDescription) {
    services[service.path] = published.handle
    for (own, theirs) in zip(service.characteristics, published.characteristics ?? []) {
      handles[own.path] = theirs.handle
      attributes[theirs.handle] = Attribute(
        path: own.path, interface: .characteristic, sockets: own.sockets, canIndicate: own.access.canIndicate)
      for (own, theirs) in zip(own.descriptors, theirs.descriptors ?? []) {
        attributes[theirs.handle] = Attribute(path: own.path, interface: .descriptor, value: own.value)
      }
    }
  }
}
