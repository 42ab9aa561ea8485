import BledRPC
import GATT

extension PeripheralBroker {
  /// The services of a session with those who subscribed to them.
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

  /// Publishes the services that a session of before had, with the handles that they had where nobody else has them.
  func revive(_ services: [RestoredState.Service], for session: Session) {
    var handles: [UInt16: UInt16] = [:]
    for service in services {
      var definition = service.definition
      definition.includes = definition.includes?.map { handles[$0] ?? $0 }
      do {
        let added = try add(.init(service: definition), for: session, at: service.service.handle)
        handles[service.service.handle] = added.handle
      } catch {
        logger.warning("service \(definition.uuid) of before cannot be published again: \(error)")
      }
    }
  }

  private func subscribers(to handle: UInt16) -> [Subscriber] {
    links.links.filter { !$0.subscription(of: handle).isEmpty }.map {
      Subscriber(central: $0.peripheral.id, handle: handle, maximumLength: $0.mtu - 3)
    }
  }
}
