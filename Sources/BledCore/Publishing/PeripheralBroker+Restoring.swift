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

  private func subscribers(to handle: UInt16) -> [Subscriber] {
    links.links.filter { !$0.subscription(of: handle).isEmpty }.map {
      Subscriber(central: $0.peripheral.id, handle: handle, maximumLength: $0.mtu - 3)
    }
  }
}
