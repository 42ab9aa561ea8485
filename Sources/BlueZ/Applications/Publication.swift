import BledRPC
import Bluetooth

/// One application while it is published: its services at bled, one after another, and the way between handles and
/// objects.
final class Publication {
  let client: BusClient
  /// The path that the program registered.
  let root: String
  /// The path of the adapter at which it is registered.
  let place: String
  private let adapter: String
  private var application: Application
  /// The handles of the services' declarations, by path.
  private var services: [String: UInt16] = [:]
  /// The handles of the characteristics' values, by path.
  private(set) var handles: [String: UInt16] = [:]
  /// The characteristics by the handles of their values.
  private var characteristics: [UInt16: Application.Characteristic] = [:]
  private(set) var isEnded = false

  init(_ application: Application, root: String, place: String, adapter: String, client: BusClient) {
    self.application = application
    self.root = root
    self.place = place
    self.adapter = adapter
    self.client = client
  }

  /// Whether a path is that of one of its characteristics.
  func has(_ path: String) -> Bool {
    application.services.contains { $0.characteristics.contains { $0.path == path } }
  }

  func characteristic(_ handle: UInt16) -> Application.Characteristic? { characteristics[handle] }

  /// Publishes all services, or none.
  func start(_ completion: @escaping (Result<Void, BusError>) -> Void) {
    readDescriptors { [self] in
      add(0) { [self] result in
        if case .failure = result { end() }
        completion(result)
      }
    }
  }

  /// Publishes them anew, in a new session.
  func restart(_ completion: @escaping (Result<Void, BusError>) -> Void) {
    (services, handles, characteristics) = ([:], [:], [:])
    add(0, completion)
  }

  func end() {
    guard !isEnded else { return }
    isEnded = true
    for handle in services.values { client.session.tell(ServiceRemove.self, ServiceRemove.Params(handle: handle)) }
  }

  private func add(_ index: Int, _ completion: @escaping (Result<Void, BusError>) -> Void) {
    guard !isEnded else { return completion(.failure(.doesNotExist)) }
    guard index < application.services.count else { return completion(.success(())) }
    let service = application.services[index]
    let session = client.session
    session.call(ServiceAdd.self, ServiceAdd.Params(service: toPublish(service))) { [self] result in
      switch result {
      case .success(let published):
        // While bled added the service the program has unregistered its application.
        guard !isEnded else {
          session.tell(ServiceRemove.self, ServiceRemove.Params(handle: published.service.handle))
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
            ServiceToPublish.Descriptor(
              uuid: $0.uuid, value: HexBytes($0.value ?? []), permissions: $0.permissions.isEmpty ? nil : $0.permissions
            )
          })
      }, adapter: adapter)
  }

  /// The characteristics that bled describes are in the order in which they were given.
  private func added(_ service: Application.Service, _ published: ServiceDescription) {
    services[service.path] = published.handle
    for (own, theirs) in zip(service.characteristics, published.characteristics ?? []) {
      handles[own.path] = theirs.handle
      characteristics[theirs.handle] = own
    }
  }

  // MARK: Descriptors

  /// Asks the program for the values of descriptors: bled answers devices itself.
  private func readDescriptors(_ completion: @escaping () -> Void) {
    var left = 1
    func one() {
      left -= 1
      if left == 0 { completion() }
    }
    for (service, characteristic, descriptor) in unknownDescriptors {
      left += 1
      let path = application.services[service].characteristics[characteristic].descriptors[descriptor].path
      client.call(path, Interface.descriptor.rawValue, "ReadValue", [.options([])]) { [self] result in
        application.services[service].characteristics[characteristic].descriptors[descriptor].value =
          (try? result.get())?.first?.bytes ?? []
        one()
      }
    }
    one()
  }

  private var unknownDescriptors: [(Int, Int, Int)] {
    application.services.enumerated().flatMap { service in
      service.element.characteristics.enumerated().flatMap { characteristic in
        characteristic.element.descriptors.enumerated().filter { $0.element.value == nil }.map {
          (service.offset, characteristic.offset, $0.offset)
        }
      }
    }
  }
}
