import GATT

/// One search for several services: their included services, and their characteristics, are discovered with one
/// procedure over all their handles (Core 5.4, Vol 3, Part G, 4.5.1 and 4.6.1). A search per service takes at least one
/// more request each, and a request takes a connection interval or two.
///
/// | Answer                                   | Then                                       |
/// |------------------------------------------|--------------------------------------------|
/// | characteristics of a service             | they are known                             |
/// | no characteristic of a service           | the service is searched by itself          |
/// | a refusal, irregular handles, malformed  | all services are searched one by one       |
extension KnownAttributes {
  /// Maximum services in one search. Other operations get their turn between two procedures of a discovery.
  private static let maximumServices = 16

  /// The next search for included services; nil if there is none.
  func missingIncludes() -> GATTProcedure? {
    missingRange { $0.includes == nil }.map { .findIncludedServices(in: $0) }
  }

  /// The next search for characteristics; nil if there is none.
  func missingCharacteristics() -> GATTProcedure? {
    missingRange { $0.characteristics == nil && !hasRefused($0.range.lowerBound) }
      .map { .discoverCharacteristics(in: $0) }
  }

  /// True if a procedure searches several services.
  func isWide(_ procedure: GATTProcedure) -> Bool {
    switch procedure {
    case .findIncludedServices(let range), .discoverCharacteristics(let range):
      service(ifKnown: range.lowerBound)?.range != range
    default: false
    }
  }

  /// Adds the included services of the services within a range.
  mutating func add(_ found: [DiscoveredInclude], within range: ClosedRange<UInt16>) {
    for service in services(within: range) where service.includes == nil {
      add(found.filter { service.range.contains($0.handle) }, of: service.range.lowerBound)
    }
  }

  /// Adds the characteristics of the services within a range.
  mutating func add(_ found: [DiscoveredCharacteristic], within range: ClosedRange<UInt16>) {
    for service in services(within: range) where service.characteristics == nil {
      let own = found.filter { service.range.contains($0.handle) && service.range.contains($0.valueHandle) }
      guard !own.isEmpty else {
        searchByItself(service)
        continue
      }
      add(own.map { $0.ending(at: service.range.upperBound) }, of: service.range.lowerBound)
    }
  }

  /// Searches each service by itself from now on.
  mutating func searchOneByOne() {
    for service in services { searchByItself(service) }
  }

  private func services(within range: ClosedRange<UInt16>) -> [Service] {
    services.filter { range.contains($0.range.lowerBound) && range.contains($0.range.upperBound) && $0.range.count > 1 }
  }

  /// The handles of the first consecutive services that lack something; nil if none does.
  private func missingRange(_ lacks: (Service) -> Bool) -> ClosedRange<UInt16>? {
    // A declaration alone has nothing in it.
    guard let first = services.firstIndex(where: { $0.range.count > 1 && lacks($0) }) else { return nil }
    var range = services[first].range
    guard !isSearchedByItself(services[first]) else { return range }
    for service in services[first...].dropFirst().prefix(Self.maximumServices - 1) where service.range.count > 1 {
      guard lacks(service), !isSearchedByItself(service) else { break }
      range = range.lowerBound...max(range.upperBound, service.range.upperBound)
    }
    return range
  }
}

extension DiscoveredCharacteristic {
  /// The characteristic with its service's end as the latest end.
  fileprivate func ending(at last: UInt16) -> DiscoveredCharacteristic {
    DiscoveredCharacteristic(
      handle: handle, valueHandle: valueHandle, endHandle: min(endHandle, last), properties: properties, uuid: uuid)
  }
}
