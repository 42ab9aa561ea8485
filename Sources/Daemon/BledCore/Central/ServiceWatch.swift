import GATT

/// The daemon's own subscription to changes of a device's services (Core 5.4, Vol 3, Part G, 7.1).
///
/// | State    | Input                                                | Then                                         |
/// |----------|------------------------------------------------------|----------------------------------------------|
/// | idle     | a session discovered something                       | look for the characteristic → begun          |
/// | begun    | the same                                             | nothing                                      |
/// | begun    | the characteristic and its configuration are known   | subscribe, `Discovery.check` → watching      |
/// | begun    | there is none that can be subscribed to              | nothing, for as long as the link lasts       |
///
/// Sessions without handles need no notice of changes, so they cause no request.
struct ServiceWatch {
  private var hasBegun = false
  /// The Service Changed value, once the daemon has subscribed to it.
  private(set) var handle: UInt16?

  /// A session discovered something.
  /// - Returns: true if the characteristic is to be discovered.
  mutating func begin() -> Bool {
    defer { hasBegun = true }
    return !hasBegun
  }

  /// The search for the characteristic has ended.
  /// - Returns: the procedure that subscribes to it; nil if the device has none with indications.
  mutating func subscribe(_ known: KnownAttributes) -> GATTProcedure? {
    guard let value = known.serviceChanged, let descriptor = known.configuration(of: value) else { return nil }
    handle = value
    return .subscribe(descriptor: descriptor, .indication)
  }

  /// The changed handles in a Service Changed value; nil if malformed.
  static func range(_ value: [UInt8]) -> ClosedRange<UInt16>? {
    guard value.count == 4 else { return nil }
    let start = UInt16(value[0]) | UInt16(value[1]) << 8
    let end = UInt16(value[2]) | UInt16(value[3]) << 8
    return start <= end ? start...end : nil
  }
}
