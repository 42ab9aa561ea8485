import BledRPC
import Bluetooth
import GATT

extension AttributePath {
  /// A method's use of a path.
  enum Kind {
    case service
    case characteristic
    /// A characteristic's or descriptor's value.
    case value
  }

  /// Checks that the members name an attribute of this kind, in one way only.
  func check(_ kind: Kind) throws {
    let (word, named) = kind == .service ? ("service", service) : ("characteristic", characteristic)
    let problem: String? =
      if handle == 0 {
        "\"handle\" must be 1 to 65535"
      } else if handle != nil {
        self == .handle(handle ?? 0)
          ? nil : "give either \"handle\" or UUIDs: \"handle\" alone says which attribute is meant"
      } else if named == nil {
        "give \"handle\" or \"\(word)\""
      } else if kind == .service, characteristic != nil {
        "a service is wanted here: leave out \"characteristic\""
      } else if kind != .value, descriptor != nil {
        "a \(word) is wanted here: leave out \"descriptor\""
      } else if let index, index < 0 {
        "\"index\" must be 0 or more"
      } else {
        nil
      }
    if let problem { throw BledError.invalidParameter.error(problem) }
  }

  /// In words, for errors and the log.
  var words: String {
    let parts = [
      handle.map { "handle \($0.handleText)" },
      descriptor.map { "descriptor \($0)" }, characteristic.map { "characteristic \($0)" },
      service.map { "service \($0)" },
    ]
    return parts.compactMap { $0 }.joined(separator: " of ")
  }
}

/// An attribute found by UUIDs, with its service and characteristic.
struct LocatedAttribute {
  let handle: UInt16
  let uuid: BluetoothUUID
  let service: KnownAttributes.Service
  /// Nil if a service was searched for.
  let characteristic: DiscoveredCharacteristic?
}

extension KnownAttributes {
  /// Maximum handles in an error.
  private static let maximumListed = 16

  /// The next request before all paths can be followed; nil if none.
  func missing(for paths: [AttributePath]) throws -> GATTProcedure? {
    for path in paths where path.handle == nil {
      if let next = try missing(for: path) { return next }
    }
    return nil
  }

  private func missing(for path: AttributePath) throws -> GATTProcedure? {
    let isSearched = path.service.map { searched.contains($0) || searched.count < Self.maximumSearches } ?? false
    let services = isSearched ? path.service.map { [$0] } ?? [] : []
    if let next = try missing(for: .services(services)) { return next }
    guard path.characteristic != nil else { return nil }
    for service in self.services where service.isPrimary(on: path) {
      if let next = missingCharacteristics(of: service) { return next }
      guard path.descriptor != nil else { continue }
      for characteristic in service.characteristics ?? [] where characteristic.uuid == path.characteristic {
        if let next = missingDescriptors(of: characteristic) { return next }
      }
    }
    return nil
  }

  /// The attribute at a path of UUIDs, if nothing it needs is missing.
  /// - Throws: `BledError.unknownAttribute` if there is none, `.ambiguousAttribute` if there are several and the path
  ///   does not say which.
  func attribute(at path: AttributePath) throws -> LocatedAttribute {
    var found: [LocatedAttribute] = []
    for service in services where service.isPrimary(on: path) { find(path, in: service, &found) }
    guard !found.isEmpty else { throw BledError.unknownAttribute.error("the device has no \(path.words)") }
    if let index = path.index {
      guard found.indices.contains(index) else {
        throw BledError.unknownAttribute.error(
          "the device has \(found.count) of \(path.words): \"index\" must be 0 to \(found.count - 1)")
      }
      return found[index]
    }
    guard found.count == 1 else {
      let places = found.prefix(Self.maximumListed).map { attribute in
        path.characteristic == nil
          ? "\(attribute.handle.handleText)" : "\(attribute.handle.handleText) in service \(attribute.service.uuid)"
      }
      let rest = found.count > places.count ? ", …" : ""
      throw BledError.ambiguousAttribute.error(
        """
        the device has \(found.count) of \(path.words), with the handles \(places.joined(separator: ", "))\(rest): give \
        the handle, or "index", 0 to \(found.count - 1)
        """)
    }
    return found[0]
  }

  /// Adds the attributes at a path in a service.
  private func find(_ path: AttributePath, in service: Service, _ found: inout [LocatedAttribute]) {
    guard let uuid = path.characteristic else {
      return found.append(
        LocatedAttribute(
          handle: service.range.lowerBound, uuid: service.uuid, service: service, characteristic: nil))
    }
    for characteristic in service.characteristics ?? [] where characteristic.uuid == uuid {
      guard let uuid = path.descriptor else {
        found.append(
          LocatedAttribute(
            handle: characteristic.valueHandle, uuid: uuid, service: service, characteristic: characteristic))
        continue
      }
      for descriptor in descriptors(of: characteristic.valueHandle) ?? [] where descriptor.uuid == uuid {
        found.append(
          LocatedAttribute(handle: descriptor.handle, uuid: uuid, service: service, characteristic: characteristic))
      }
    }
  }
}

extension KnownAttributes.Service {
  /// True for a primary service in which a path may end. Secondary services are seldom discovered, so they would not
  /// count reliably.
  fileprivate func isPrimary(on path: AttributePath) -> Bool {
    isPrimary == true && (path.service == nil || uuid == path.service)
  }
}
