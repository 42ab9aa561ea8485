import Adapter

/// The capacity of an advertising set. With data not allowed in other PDUs, its parameters are refused (Core 5.4, Vol
/// 4, Part E, 7.8.53).
struct AdvertisingFormat: Hashable {
  let isExtended: Bool
  let hasData: Bool
  let hasScanResponse: Bool
  /// True if it includes a train of periodic advertisements.
  fileprivate(set) var hasPeriodic: Bool

  init(_ parameters: AdvertisingParameters) {
    isExtended = parameters.isExtended
    hasPeriodic = parameters.periodic != nil
    hasScanResponse = parameters.isScannable
    // A scannable extended advertisement carries its data in the scan response alone, and ADV_DIRECT_IND has none.
    hasData = isExtended ? parameters.kind != .scannable : parameters.target == nil
  }
}

/// The handles of a controller's advertising sets, and the purpose of each.
struct AdvertisingHandles {
  private let count: Int
  private let keepsFirst: Bool
  private var formats: [UInt8: AdvertisingFormat] = [:]

  /// - Parameters:
  ///   - count: the controller's number of sets, 1 to 240.
  ///   - keepsFirst: true if devices can pair through handle 0 only.
  init(count: Int, keepsFirst: Bool) {
    self.count = count
    self.keepsFirst = keepsFirst
  }

  /// An unused handle. The kernel keeps track of a random address for handle 0 only: the adapter's address takes that
  /// handle first, and an own address is as far from it as possible. With a random adapter address, so are
  /// advertisements that are not connectable.
  func free(besides used: Set<UInt8>, for wanted: AdvertisingParameters) -> UInt8? {
    let all = 0..<UInt8(clamping: count)
    let isLast = wanted.ownAddress != nil || keepsFirst && !wanted.isConnectable
    return isLast ? all.last { !used.contains($0) } : all.first { !used.contains($0) }
  }

  /// The steps for a handle before it is prepared for others.
  struct Former: Hashable {
    /// Its train has to be ended.
    let endsPeriodic: Bool
    /// The controller must forget its set.
    let forgets: Bool
  }

  /// A handle is prepared for these PDUs.
  mutating func prepare(_ handle: UInt8, for format: AdvertisingFormat) -> Former {
    let former = formats.updateValue(format, forKey: handle)
    return Former(endsPeriodic: former?.hasPeriodic == true, forgets: former != nil && former != format)
  }

  /// True if the controller may be sending a train of periodic advertisements, which continues without the others.
  func hasPeriodic(_ handle: UInt8) -> Bool { formats[handle]?.hasPeriodic ?? false }

  /// Its train has ended.
  mutating func endedPeriodic(_ handle: UInt8) { formats[handle]?.hasPeriodic = false }

  /// The controller has forgotten it, or may have.
  mutating func forget(_ handle: UInt8) { formats[handle] = nil }

  /// The controller has forgotten all.
  mutating func forgetAll() { formats = [:] }

  /// The controller may have forgotten all. Trains, which have to be ended first if it has not, are taken to be there.
  mutating func doubtAll() { formats = formats.filter(\.value.hasPeriodic) }

  /// True if a set is prepared, as far as is known.
  func isPrepared(_ handle: UInt8) -> Bool { formats[handle] != nil }
}
