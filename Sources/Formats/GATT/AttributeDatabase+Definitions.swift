import ATT
import Bluetooth

extension AttributeDatabase {
  /// Adds a service and gives it handles: its former ones if its publisher had it here in the same shape and they are
  /// free, else fresh ones, and handles of other removed services only when none are left.
  /// - Parameters:
  ///   - publisher: the service's owner, across databases.
  ///   - audience: its audience; nil for all. It can include only services visible to all of them.
  ///   - preferred: its start handle if there is room: where it was in an earlier database.
  /// - Throws: `.noHandlesLeft`; `.unknownInclude`; `.hiddenInclude`; `.invalidDeclaration` for a characteristic or
  ///   descriptor with a declaration's UUID; `.valueTooLong`.
  public mutating func add(
    _ definition: ServiceDefinition, owner: AttributeOwner = .local, publisher: UInt32? = nil,
    audience: Audience? = nil, at preferred: UInt16? = nil
  ) throws(DatabaseError) -> RegisteredService {
    for include in definition.includes {
      let limit = service(containing: include)?.audience
      guard limit == nil || limit == audience else { throw .hiddenInclude(include) }
    }
    let count = definition.attributeCount
    let tree = try tree(of: definition)
    let start: UInt16
    if let preferred, preferred > 0, let end = UInt16(exactly: Int(preferred) + count - 1), isFree(preferred...end) {
      start = preferred
    } else if let place = formerPlaces.ranges(of: tree, publisher: publisher)
      .first(where: { $0.count == count && isFree($0) })
    {
      start = place.lowerBound
    } else {
      start = try freeHandles(count)
    }
    guard let end = UInt16(exactly: Int(start) + count - 1) else { throw .noHandlesLeft }
    return try insert(
      attributes(of: definition, at: start), range: start...end, owner: owner, publisher: publisher,
      audience: audience)
  }

  private func isFree(_ range: ClosedRange<UInt16>) -> Bool {
    !entries.contains { $0.registered.range.overlaps(range) }
  }

  private func freeHandles(_ count: Int) throws(DatabaseError) -> UInt16 {
    if Int(highestHandle) + count <= 0xFFFF { return highestHandle + 1 }
    let used = entries.map(\.registered.range)
    let start = Self.gap(of: count, between: used + formerPlaces.all.map(\.range)) ?? Self.gap(of: count, between: used)
    guard let start else { throw .noHandlesLeft }
    return start
  }

  /// The first handle of a gap with this many free ones.
  private static func gap(of count: Int, between ranges: [ClosedRange<UInt16>]) -> UInt16? {
    var start = 1
    for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) {
      if Int(range.lowerBound) - start >= count { break }
      start = max(start, Int(range.upperBound) + 1)
    }
    return start + count - 1 <= 0xFFFF ? UInt16(exactly: start) : nil
  }

  /// A definition's attributes in the order of Part G, 2.6.1: declaration, includes, characteristics.
  private func attributes(of definition: ServiceDefinition, at start: UInt16) throws(DatabaseError) -> [Attribute] {
    var list: [Attribute] = []
    list.reserveCapacity(definition.attributeCount)
    func append(_ type: BluetoothUUID, _ permissions: AttributePermissions, _ source: ValueSource, _ maximum: Int = 512)
    {
      let handle = start + UInt16(list.count)
      list.append(
        Attribute(handle: handle, type: type, permissions: permissions, source: source, maximumLength: maximum))
    }
    append(definition.isPrimary ? .primaryService : .secondaryService, .readable, .stored(definition.uuid.attOctets))
    for include in definition.includes {
      guard let service = service(containing: include), service.range.lowerBound == include else {
        throw .unknownInclude(include)
      }
      var value: [UInt8] = []
      value.append(word: service.range.lowerBound)
      value.append(word: service.range.upperBound)
      if service.uuid.short16 != nil { value += service.uuid.attOctets }
      append(.include, .readable, .stored(value))
    }
    for characteristic in definition.characteristics {
      var declaration = [characteristic.declaredProperties.rawValue]
      declaration.append(word: start + UInt16(list.count) + 1)
      declaration.append(uuid: characteristic.uuid)
      append(.characteristic, .readable, .stored(declaration))
      append(characteristic.uuid, characteristic.permissions, characteristic.value, characteristic.maximumLength)
      for descriptor in characteristic.allDescriptors {
        append(descriptor.uuid, descriptor.permissions, descriptor.value)
      }
    }
    return list
  }

  private func tree(of definition: ServiceDefinition) throws(DatabaseError) -> [UInt8] {
    guard definition.attributeCount <= 0xFFFF else { throw .noHandlesLeft }
    let types = definition.characteristics.flatMap { [$0.uuid] + $0.allDescriptors.map(\.uuid) }
    guard !types.contains(where: \.isDeclarationType) else { throw .invalidDeclaration }
    return tree(of: try attributes(of: definition, at: 0))
  }

  /// A service's visible content except its handles, for recognising it elsewhere.
  func tree(of attributes: [Attribute]) -> [UInt8] {
    var shape: [UInt8] = []
    for attribute in attributes {
      shape.append(uuid: attribute.type)
      guard case .stored(let value) = attribute.source, attribute.isDeclaration else { continue }
      if attribute.type == .characteristic {
        shape += value.prefix(1)
        shape += value.dropFirst(3)
      } else {
        shape += value
      }
    }
    return cmac?(shape) ?? shape
  }
}

extension Attribute {
  /// True for services, includes and characteristic declarations.
  fileprivate var isDeclaration: Bool { type.isDeclarationType }
}

extension BluetoothUUID {
  /// True for the types of services, includes and characteristic declarations, which nothing else may have.
  fileprivate var isDeclarationType: Bool { short16.map { (0x2800...0x2803).contains($0) } == true }
}

extension ServiceDefinition {
  /// Its number of handles.
  public var attributeCount: Int {
    1 + includes.count + characteristics.reduce(0) { $0 + 2 + $1.allDescriptors.count }
  }
}

extension CharacteristicDefinition {
  /// The properties, and the bit for Extended Properties where there is such a descriptor.
  fileprivate var declaredProperties: CharacteristicProperties {
    descriptors.contains { $0.uuid == .characteristicExtendedProperties }
      ? properties.union(.extendedProperties) : properties
  }

  /// The definition's descriptors, and those required by its properties.
  fileprivate var allDescriptors: [DescriptorDefinition] {
    var all = descriptors
    if properties.contains(.extendedProperties), !all.contains(where: { $0.uuid == .characteristicExtendedProperties })
    {
      // Reliable Write (Core 5.4, Vol 3, Part G, 3.3.3.1), the only one provided by the server itself.
      all.append(DescriptorDefinition(uuid: .characteristicExtendedProperties, value: .stored([1, 0])))
    }
    if !properties.isDisjoint(with: [.notify, .indicate]),
      !all.contains(where: { $0.uuid == .clientCharacteristicConfiguration })
    {
      // Subscribing to a value requires the same protection as reading or writing it, and no authorization.
      let needed = [permissions.read, permissions.write].compactMap { $0 }.max { $0.level < $1.level } ?? .open
      all.append(
        DescriptorDefinition(
          uuid: .clientCharacteristicConfiguration,
          permissions: AttributePermissions(
            read: .open, write: AccessRequirement(level: needed.level, minimumKeySize: needed.minimumKeySize)),
          value: .clientConfiguration))
    }
    return all
  }
}

extension AttributeDatabase {
  /// True if there is a database hash.
  public var hasHash: Bool { cmac != nil }

  /// The input of the database hash (Core 5.4, Vol 3, Part G, 7.3.1): every declaration and Extended Properties
  /// descriptor with its value, GATT's other descriptors without; for the services visible to `viewer`.
  public var hashMessage: [UInt8] {
    var message: [UInt8] = []
    for attribute in entries.lazy.filter({ $0.isSeen(by: viewer) }).flatMap(\.attributes) {
      guard let type = attribute.type.short16 else { continue }
      switch type {
      case 0x2800...0x2803, 0x2900:
        message.append(word: attribute.handle)
        message.append(word: type)
        if case .stored(let value) = attribute.source { message += value }
      case 0x2901...0x2905:
        message.append(word: attribute.handle)
        message.append(word: type)
      default: continue
      }
    }
    return message
  }

  /// True if `hash` is known without going through all attributes.
  public var isHashed: Bool { cachedHashes[viewer] != nil || cmac == nil }

  /// The Database Hash value: 16 octets in wire order; nil without a hash.
  public mutating func hash() -> [UInt8]? {
    guard let cmac else { return nil }
    if let cachedHash = cachedHashes[viewer] { return cachedHash }
    // The characteristic is a number and goes out least significant octet first; AES-CMAC gives the most significant
    // first.
    let hash = [UInt8](cmac(hashMessage).reversed())
    cachedHashes[viewer] = hash
    return hash
  }
}
