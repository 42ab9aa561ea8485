import ATT
import BledRPC
import Bluetooth
import GATT

/// The goal of a discovery.
enum DiscoveryGoal: Hashable {
  /// All services with their contents.
  case everything
  /// The primary services of these UUIDs, of all if there are none.
  case services([BluetoothUUID])
  /// The services included by the one at this handle.
  case includes(UInt16)
  /// The characteristics of the service at this handle.
  case characteristics(UInt16)
  /// The descriptors of the characteristic with this value handle.
  case descriptors(UInt16)
  /// The characteristics of the Generic Attribute service, and the configuration of Service Changed, if it is one of
  /// them (Core 5.4, Vol 3, Part G, 7).
  case serviceChanged
  /// The attributes at paths of UUIDs.
  case attributes([AttributePath])
}

/// Discovers the unknown attributes of a device, one procedure at a time. The first discovery on a link reads the
/// Database Hash (Core 5.4, Vol 3, Part G, 7.3): if it equals the cached one, the cache is used. A bonded device that
/// reports changed services needs none.
///
/// | State | Input                      | Next procedure, next state                                 |
/// |-------|----------------------------|------------------------------------------------------------|
/// | any   | next, the link has no hash read, and something is to be asked or compared | read the hash → asked                                      |
/// | any   | next, something is missing | the procedure for the first that is → asked                |
/// | any   | next, nothing is missing   | done                                                       |
/// | asked | a result                   | it becomes known, unless something became void since → any |
/// | asked | something became void      | it is asked again, at most `maximumRestarts` times         |
/// | asked | refused the includes, or the kind of an included service | there are none, it is not a primary one → any              |
/// | asked | refused the characteristics of one service, or the descriptors of one characteristic, while everything is discovered | they stay unknown, and are named in the log → any          |
/// | asked | refused to search for one service | all are asked for instead → any                            |
/// | asked | one search for several services is refused, or answered irregularly | each is searched by itself → any                           |
/// | asked | refused otherwise          | failed                                                     |
struct DiscoveryMachine {
  /// Maximum changes of the device's services during their discovery.
  static let maximumRestarts = 8

  private let goal: DiscoveryGoal
  private var asked: (procedure: GATTProcedure, epoch: Int)?
  private var restarts = 0
  /// The parts refused by the device, for the log.
  private(set) var refusals: [String] = []

  init(_ goal: DiscoveryGoal) { self.goal = goal }

  var isReadingHash: Bool { if case .readDatabaseHash = asked?.procedure { true } else { false } }

  /// True if the pending result belongs to one search for several services.
  func isWide(_ known: KnownAttributes) -> Bool { asked.map { known.isWide($0.procedure) } ?? false }

  /// The next procedure; nil when everything requested is known.
  /// - Parameters:
  ///   - isVerified: true if the hash was read on this link.
  ///   - hasCache: true if there is a cached database to compare with.
  mutating func next(
    _ known: KnownAttributes, isVerified: Bool, hasCache: Bool
  ) throws -> GATTProcedure? {
    let readHash = GATTProcedure.readDatabaseHash
    let procedure: GATTProcedure?
    if isVerified {
      procedure = try known.missing(for: goal)
    } else {
      procedure = hasCache ? readHash : try known.missing(for: goal).map { _ in readHash }
    }
    asked = procedure.map { ($0, known.epoch) }
    return procedure
  }

  /// Adds the result of the next procedure to the known attributes.
  mutating func receive(_ result: GATTResult, _ known: inout KnownAttributes) throws {
    guard let asked, try isValid(known) else { return }
    try known.learn(result, of: asked.procedure)
  }

  /// Ends the pending procedure.
  /// - Returns: false if something became void since the request: it is sent again.
  private mutating func isValid(_ known: KnownAttributes) throws -> Bool {
    defer { asked = nil }
    guard asked?.epoch != known.epoch else { return true }
    restarts += 1
    guard restarts <= Self.maximumRestarts else {
      throw BledError.protocolViolation.error("the device's services kept changing during discovery")
    }
    return false
  }
}

extension DiscoveryMachine {
  /// The device refused the procedure. Poor devices know only the requests phones make.
  /// - Throws: the error if the discovery cannot continue without the answer.
  mutating func receive(_ error: BluetoothError, _ known: inout KnownAttributes) throws {
    guard let asked else { throw error }
    // No discovery fails for want of a descriptor's value.
    if case .read = asked.procedure, error.domain == .att { return try receive(.value([]), &known) }
    let code = error.domain == .att ? ATTErrorCode(rawValue: UInt8(clamping: error.code)) : nil
    // A device that has changed since answers the same request now.
    if code == .databaseOutOfSync, asked.epoch != known.epoch {
      _ = try isValid(known)
      return
    }
    // With the requested security, others may get an answer.
    guard code.map({ !$0.isToBeTold }) ?? error.isUnusableAnswer else { throw error }
    switch asked.procedure {
    case .findIncludedServices where code != nil || !known.isWide(asked.procedure):
      try receive(.includedServices([]), &known)
    case .findIncludedServices,
      .discoverCharacteristics where known.isWide(asked.procedure):
      self.asked = nil
      known.searchOneByOne()
    // The daemon's own question is not worth more of the device's time.
    case .discoverPrimaryServices where goal != .serviceChanged:
      self.asked = nil
      known.cannotBeSearched = true
    case .discoverServices(_, let range) where range != 1...0xFFFF: try receive(.services([]), &known)
    case .discoverCharacteristics(let range) where goal == .everything:
      try refused(range.lowerBound, "the characteristics of service", error, &known)
    case .discoverDescriptors(let range) where goal == .everything:
      try refused(range.lowerBound - 1, "the descriptors of characteristic", error, &known)
    default: throw error
    }
  }

  private mutating func refused(
    _ handle: UInt16, _ part: String, _ error: BluetoothError, _ known: inout KnownAttributes
  ) throws {
    guard try isValid(known) else { return }
    known.refuses(handle)
    refusals.append("\(part) \(handle.handleText) (\(error.name))")
  }
}

extension BluetoothError {
  /// True if a device's answer cannot be used.
  var isUnusableAnswer: Bool { domain == .bled && code == BledError.protocolViolation.rawValue }
}

extension KnownAttributes {
  /// The next request on the way to a goal; nil if it is reached.
  /// - Throws: `BledError.unknownHandle` if the goal is within an undiscovered service or characteristic.
  func missing(for goal: DiscoveryGoal) throws -> GATTProcedure? {
    switch goal {
    case .services(let uuids):
      if hasAllPrimaries { return nil }
      if uuids.isEmpty || cannotBeSearched { return .discoverServices(.primary) }
      return uuids.first { !searched.contains($0) }.map { search(for: $0) }
    case .includes(let handle): return missingIncludes(of: try service(at: handle))
    case .characteristics(let handle): return missingCharacteristics(of: try service(at: handle))
    case .descriptors(let value):
      let characteristic = try characteristic(at: value)
      return missingDescriptors(of: characteristic) ?? missingExtendedProperties(of: characteristic)
    case .serviceChanged: return try missingForServiceChanged()
    case .attributes(let paths): return try missing(for: paths)
    case .everything:
      guard hasAllPrimaries else { return .discoverServices(.primary) }
      if let next = missingIncludes() ?? missingCharacteristics() { return next }
      for service in services {
        for characteristic in service.characteristics ?? [] where !hasRefused(characteristic.valueHandle) {
          if let next = missingDescriptors(of: characteristic) ?? missingExtendedProperties(of: characteristic) {
            return next
          }
        }
      }
      return nil
    }
  }

  private func missingForServiceChanged() throws -> GATTProcedure? {
    if let service = services.first(where: { $0.uuid == 0x1801 }) {
      if let next = missingCharacteristics(of: service) { return next }
    } else if !hasAllPrimaries, !searched.contains(0x1801), !hasNone(byShortFormOf: 0x1801) {
      return cannotBeSearched ? .discoverServices(.primary) : .discoverPrimaryServices(uuid: 0x1801)
    }
    return try serviceChanged.flatMap { missingDescriptors(of: try characteristic(at: $0)) }
  }

  private func missingIncludes(of service: Service) -> GATTProcedure? {
    // A declaration alone has nothing in it.
    guard let includes = service.includes else {
      return service.range.count > 1 ? .findIncludedServices(in: service.range) : nil
    }
    // Only a discovery yields the kind of service.
    return includes.lazy.map(\.range.lowerBound).first { self.service(ifKnown: $0)?.isPrimary == nil }
      .map { .discoverServices(.primary, in: $0...$0) }
  }

  func missingCharacteristics(of service: Service) -> GATTProcedure? {
    service.characteristics == nil && service.range.count > 1 ? .discoverCharacteristics(in: service.range) : nil
  }

  func missingDescriptors(of characteristic: DiscoveredCharacteristic) -> GATTProcedure? {
    let value = characteristic.valueHandle
    guard characteristic.endHandle > value, descriptors(of: value) == nil else { return nil }
    return .discoverDescriptors(in: (value + 1)...characteristic.endHandle)
  }

  /// Adds the result of a `missing` procedure to the known attributes.
  mutating func learn(_ result: GATTResult, of procedure: GATTProcedure) throws {
    switch (procedure, result) {
    case (.discoverServices(_, let range), .services(let found)):
      for service in found { add(service.range, service.uuid, isPrimary: true) }
      if range == 1...0xFFFF {
        addedAllPrimaries()
      } else if let service = service(ifKnown: range.lowerBound), service.isPrimary == nil {
        add(service.range, service.uuid, isPrimary: false)
      }
    case (.discoverPrimaryServices(let value), .services(let found)):
      for service in found { add(service.range, service.uuid, isPrimary: true) }
      guard let uuid = BluetoothUUID(littleEndian: value) else { return }
      if found.isEmpty, value.count == 2 { addedNone(byShortFormOf: uuid) } else { addedAll(of: uuid) }
    case (.findIncludedServices(let range), .includedServices(let found)):
      if isWide(procedure) { add(found, within: range) } else { add(found, of: range.lowerBound) }
    case (.discoverCharacteristics(let range), .characteristics(let found)):
      if isWide(procedure) { add(found, within: range) } else { add(found, of: range.lowerBound) }
    case (.discoverDescriptors(let range), .descriptors(let found)): add(found, of: range.lowerBound - 1)
    case (.read(let handle), .value(let octets)): add(extended: octets, ofDescriptor: handle)
    default: throw GATTResult.unexpected()
    }
  }
}

extension GATTResult {
  /// The device, or our own stack, failed to return the requested attributes.
  static func unexpected() -> BluetoothError {
    BledError.protocolViolation.error("the device's response does not match the request")
  }
}
