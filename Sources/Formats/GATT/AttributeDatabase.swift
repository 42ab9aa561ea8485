import ATT
import Bluetooth

/// A GATT server's attributes (Core 5.4, Vol 3, Part G, 2.6). All links share them.
///
/// Services are in handle order, each with its attributes in one array, so a handle is found by two binary searches;
/// handles are also listed by type, so a search by type visits no others.
public struct AttributeDatabase: Sendable {
  struct Service: Sendable {
    var registered: RegisteredService
    var attributes: [Attribute]
    /// The visible content except the handles.
    let tree: [UInt8]
    /// Its owner, over the lives of databases.
    let publisher: UInt32?
    /// The highest security level required by one of them.
    let strictestLevel: UInt8

    init(registered: RegisteredService, attributes: [Attribute], tree: [UInt8], publisher: UInt32?) {
      self.registered = registered
      self.attributes = attributes
      self.tree = tree
      self.publisher = publisher
      strictestLevel = attributes.reduce(1) {
        max($0, $1.permissions.read?.level ?? 1, $1.permissions.write?.level ?? 1)
      }
    }

    func isSeen(by viewer: Audience?) -> Bool {
      viewer == nil || registered.audience == nil || registered.audience == viewer
    }

    /// Its place; nil if it has gaps between its handles: then it is never added again.
    var place: ServicePlaces.Place? {
      let range = registered.range
      guard range.count == attributes.count else { return nil }
      return .init(publisher: publisher, tree: tree, range: range)
    }
  }

  /// An attribute's position; valid until services are added or removed.
  struct Position {
    let service: Int
    let attribute: Int
  }

  private(set) var entries: [Service] = []
  /// The present audience: look-ups, discovery and the hash omit others' services. nil sees all.
  public var viewer: Audience?
  /// The highest security level required by an attribute, 1 to 4.
  private(set) var strictestLevel: UInt8 = 1
  /// Services with an audience.
  private var limitedServices = 0
  private var handlesByType: [BluetoothUUID: [UInt16]] = [:]
  /// The highest handle ever in use: new services follow it, so that no cached handle changes its meaning.
  var highestHandle: UInt16 = 0
  /// The places of absent services: a returning one gets its handles back.
  public internal(set) var formerPlaces: ServicePlaces
  /// AES-CMAC with the all-zero key; nil where there is no database hash.
  let cmac: (@Sendable ([UInt8]) -> [UInt8])?
  /// The hashes as each viewer sees the services.
  var cachedHashes: [Audience?: [UInt8]] = [:]

  /// Makes an empty database.
  /// - Parameters:
  ///   - places: the `places` of an earlier database.
  ///   - cmac: AES-CMAC of octets under the all-zero key, 16 octets in the order of RFC 4493, for the database hash.
  public init(places: [ServicePlaces.Place] = [], cmac: (@Sendable ([UInt8]) -> [UInt8])? = nil) {
    formerPlaces = ServicePlaces(places)
    self.cmac = cmac
    highestHandle = formerPlaces.highestHandle
  }

  /// All services in handle order.
  public var services: [RegisteredService] { entries.map(\.registered) }

  /// The service containing this handle.
  public func service(containing handle: UInt16) -> RegisteredService? {
    guard let index = serviceIndex(of: handle) else { return nil }
    return entries[index].registered
  }

  /// The past and present places of services, for a later database; present ones last, in handle order.
  public var places: [ServicePlaces.Place] { formerPlaces.all + entries.compactMap(\.place) }

  /// The owner of the service with this handle, and the service as clients see it except its handles: as octets for
  /// comparison. A subscription to one publisher's service does not count for another one's equal service at the same
  /// handles.
  func identity(ofServiceWith handle: UInt16) -> [UInt8]? {
    guard let entry = serviceIndex(of: handle).map({ entries[$0] }) else { return nil }
    guard let publisher = entry.publisher else { return entry.tree }
    return entry.tree + (0..<4).map { UInt8(truncatingIfNeeded: publisher >> ($0 * 8)) }
  }

  /// The attribute at this handle.
  public func attribute(_ handle: UInt16) -> Attribute? { position(of: handle).map { self[$0] } }

  /// The value stored in the database at this handle; nil if there is none, or its owner holds it.
  public func value(of handle: UInt16) -> [UInt8]? {
    guard let position = position(of: handle), case .stored(let value) = self[position].source else { return nil }
    return value
  }

  /// Changes a value stored in the database.
  /// - Returns: false if there is none, it belongs to a declaration, or the new value is too long.
  @discardableResult
  public mutating func setValue(_ value: [UInt8], of handle: UInt16) -> Bool {
    guard let position = position(of: handle), case .stored = self[position].source,
      self[position].characteristic.valueHandle != 0, value.count <= self[position].maximumLength
    else { return false }
    entries[position.service].attributes[position.attribute].source = .stored(value)
    return true
  }

  /// Adds a service with handles chosen by the caller.
  /// - Parameters:
  ///   - range: the service's handles; they may be more than it has attributes.
  ///   - attributes: in ascending order, beginning with the service declaration at the range's start. Declarations
  ///     (0x2800 to 0x2803) hold their values in the wire form of Part G, 3.1 to 3.3.
  ///   - publisher: the owner, as numbered by the caller: it may return to these handles.
  ///   - audience: its audience; nil for all.
  /// - Throws: `.invalidHandles`; `.invalidDeclaration`; `.valueTooLong`.
  @discardableResult
  public mutating func insert(
    _ attributes: [Attribute], range: ClosedRange<UInt16>, owner: AttributeOwner, publisher: UInt32? = nil,
    audience: Audience? = nil
  ) throws(DatabaseError) -> RegisteredService {
    let index = serviceIndexNotAbove(range.lowerBound).map { $0 + 1 } ?? 0
    if index > 0, entries[index - 1].registered.range.overlaps(range) { throw .invalidHandles }
    if index < entries.count, entries[index].registered.range.overlaps(range) { throw .invalidHandles }
    var attributes = attributes
    var registered = try Declarations.read(&attributes, range: range, owner: owner)
    registered.audience = audience
    let service = Service(
      registered: registered, attributes: attributes, tree: tree(of: attributes), publisher: publisher)
    entries.insert(service, at: index)
    if audience != nil { limitedServices += 1 }
    strictestLevel = max(strictestLevel, service.strictestLevel)
    for attribute in attributes {
      var handles = handlesByType.removeValue(forKey: attribute.type) ?? []
      handles.insert(attribute.handle, at: handles.firstIndex(notBelow: attribute.handle))
      handlesByType[attribute.type] = handles
    }
    highestHandle = max(highestHandle, range.upperBound)
    formerPlaces.occupy(range)
    cachedHashes = [:]
    return registered
  }

  /// Removes the service beginning at this handle.
  /// - Returns: the freed handles, for `databaseChanged`; nil if no service begins there.
  @discardableResult
  public mutating func remove(service handle: UInt16) -> ClosedRange<UInt16>? {
    guard let index = serviceIndex(of: handle), entries[index].registered.range.lowerBound == handle else { return nil }
    let service = entries.remove(at: index)
    if service.registered.audience != nil { limitedServices -= 1 }
    for attribute in service.attributes {
      guard var handles = handlesByType.removeValue(forKey: attribute.type) else { continue }
      let place = handles.firstIndex(notBelow: attribute.handle)
      if place < handles.count, handles[place] == attribute.handle { handles.remove(at: place) }
      if !handles.isEmpty { handlesByType[attribute.type] = handles }
    }
    strictestLevel = entries.reduce(1) { max($0, $1.strictestLevel) }
    if let place = service.place { formerPlaces.leave(place) }
    cachedHashes = [:]
    return service.registered.range
  }

  // MARK: - Look-ups by the server

  /// The attribute at a position, borrowed rather than copied.
  subscript(_ position: Position) -> Attribute {
    _read { yield entries[position.service].attributes[position.attribute] }
  }

  mutating func store(_ value: ArraySlice<UInt8>, at position: Position) {
    entries[position.service].attributes[position.attribute].source.store(value)
  }

  func owner(at position: Position) -> AttributeOwner { entries[position.service].registered.owner }

  func position(of handle: UInt16) -> Position? {
    guard let service = serviceIndex(of: handle) else { return nil }
    // Handles are mostly contiguous; then the position is known at once.
    let guess = Int(handle) - Int(entries[service].registered.range.lowerBound)
    if guess < entries[service].attributes.count, entries[service].attributes[guess].handle == handle {
      return Position(service: service, attribute: guess)
    }
    let place = entries[service].attributes.firstIndex(notBelow: handle)
    guard place < entries[service].attributes.count, entries[service].attributes[place].handle == handle else {
      return nil
    }
    return Position(service: service, attribute: place)
  }

  /// The handles of attributes with a type within a range, in ascending order.
  func handles(ofType type: BluetoothUUID, in range: ClosedRange<UInt16>) -> ArraySlice<UInt16> {
    guard let handles = handlesByType[type] else { return [] }
    let first = handles.firstIndex(notBelow: range.lowerBound)
    let end = range.upperBound == .max ? handles.count : handles.firstIndex(notBelow: range.upperBound + 1)
    guard viewer != nil, limitedServices > 0 else { return handles[first..<end] }
    return handles[first..<end].filter { serviceIndex(of: $0) != nil }[...]
  }

  /// The position of the first attribute at or after a handle, in any service.
  func position(notBelow handle: UInt16) -> Position? {
    var service = serviceIndexNotAbove(handle) ?? 0
    while service < entries.count {
      let attribute = entries[service].attributes.firstIndex(notBelow: handle)
      if entries[service].isSeen(by: viewer), attribute < entries[service].attributes.count {
        return Position(service: service, attribute: attribute)
      }
      service += 1
    }
    return nil
  }

  /// The position after a position.
  func position(after position: Position) -> Position? {
    if position.attribute + 1 < entries[position.service].attributes.count {
      return Position(service: position.service, attribute: position.attribute + 1)
    }
    // Every service has at least one attribute, its declaration.
    let next = entries[(position.service + 1)...].firstIndex { $0.isSeen(by: viewer) }
    return next.map { Position(service: $0, attribute: 0) }
  }

  private func serviceIndex(of handle: UInt16) -> Int? {
    guard let index = serviceIndexNotAbove(handle), entries[index].registered.range.contains(handle),
      entries[index].isSeen(by: viewer)
    else { return nil }
    return index
  }

  /// The last service beginning at or before a handle.
  private func serviceIndexNotAbove(_ handle: UInt16) -> Int? {
    var low = 0
    var high = entries.count
    while low < high {
      let middle = (low + high) / 2
      if entries[middle].registered.range.lowerBound <= handle { low = middle + 1 } else { high = middle }
    }
    return low == 0 ? nil : low - 1
  }
}

extension [UInt16] {
  /// The index of the first element not below `handle`, in an ascending array.
  func firstIndex(notBelow handle: UInt16) -> Int {
    if let last, last < handle { return count }
    var low = 0
    var high = count
    while low < high {
      let middle = (low + high) / 2
      if self[middle] < handle { low = middle + 1 } else { high = middle }
    }
    return low
  }
}

extension [Attribute] {
  /// The index of the first attribute not below `handle`, in an ascending array.
  func firstIndex(notBelow handle: UInt16) -> Int {
    var low = 0
    var high = count
    while low < high {
      let middle = (low + high) / 2
      if self[middle].handle < handle { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
