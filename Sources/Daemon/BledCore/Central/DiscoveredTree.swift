import BledRPC

/// A session's findings on a device, as reported: returned when the session is restored.
struct DiscoveredTree {
  private var byHandle: [UInt16: ServiceDescription] = [:]

  /// The services in order of their handles.
  var services: [ServiceDescription] { byHandle.values.sorted { $0.handle < $1.handle } }

  /// Adds services; known parts stay unless newer ones are given.
  mutating func add(_ services: [ServiceDescription]) {
    for var service in services {
      if let known = byHandle[service.handle], known.uuid == service.uuid, known.end == service.end {
        service.includes = service.includes ?? known.includes
        service.characteristics = service.characteristics ?? known.characteristics
        // An include declaration does not say whether the service is a primary one.
        service.primary = known.primary && service.primary
      }
      byHandle[service.handle] = service
    }
  }

  /// Adds the services included by the one at this handle.
  mutating func add(includes: [ServiceDescription], of handle: UInt16) {
    byHandle[handle]?.includes = includes
  }

  /// Adds characteristics of the service at this handle.
  mutating func add(_ characteristics: [CharacteristicDescription], of handle: UInt16) {
    let known = byHandle[handle]?.characteristics ?? []
    let new = characteristics.map { characteristic in
      guard let old = known.first(where: { $0.handle == characteristic.handle && $0.uuid == characteristic.uuid })
      else {
        return characteristic
      }
      var merged = characteristic
      merged.descriptors = characteristic.descriptors ?? old.descriptors
      return merged
    }
    let rest = known.filter { old in !new.contains { $0.handle == old.handle } }
    byHandle[handle]?.characteristics = (rest + new).sorted { $0.handle < $1.handle }
  }

  /// Adds the descriptors of the characteristic with this value handle.
  mutating func add(_ descriptors: [DescriptorDescription], of value: UInt16) {
    for (handle, service) in byHandle where service.handle <= value && value <= service.end {
      guard let index = service.characteristics?.firstIndex(where: { $0.handle == value }) else { continue }
      byHandle[handle]?.characteristics?[index].descriptors = descriptors
    }
  }

  /// Forgets the attributes invalidated by the device.
  mutating func forget(_ range: ClosedRange<UInt16>) {
    byHandle = byHandle.filter { $0.value.end < range.lowerBound || $0.key > range.upperBound }
  }

  /// True if these services and their contents exist, with the same handles.
  func contains(_ services: [ServiceDescription]) -> Bool {
    services.allSatisfy { service in
      guard let found = byHandle[service.handle], found.uuid == service.uuid, found.end == service.end else {
        return false
      }
      return (service.characteristics ?? []).allSatisfy { characteristic in
        found.characteristics?.contains {
          $0.handle == characteristic.handle && $0.uuid == characteristic.uuid
            && $0.properties == characteristic.properties
        } ?? false
      }
    }
  }
}
