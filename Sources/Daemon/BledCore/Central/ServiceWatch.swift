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
/// Sessions that rely on no handles need not be told of changes, so nothing is asked for them.
struct ServiceWatch {
  private var hasBegun = false
  /// The value of the Service Changed characteristic, once the daemon has subscribed to it.
  private(set) var handle: UInt16?

  /// A session discovered something.
  /// - Returns: whether the characteristic is to be looked for.
  mutating func begin() -> Bool {
    defer { hasBegun = true }
    return !hasBegun
  }

  /// The characteristic was looked for.
  /// - Returns: the procedure that subscribes to it; nil if the device has none that can be subscribed to.
  mutating func subscribe(_ known: KnownAttributes) -> GATTProcedure? {
    guard let value = known.serviceChanged, let descriptor = known.configuration(of: value) else { return nil }
    handle = value
    return .subscribe(descriptor: descriptor, .indication)
  }

  /// The handles that a value of the characteristic says have changed; nil for a value that is not one.
  static func range(_ value: [UInt8]) -> ClosedRange<UInt16>? {
    guard value.count == 4 else { return nil }
    let start = UInt16(value[0]) | UInt16(value[1]) << 8
    let end = UInt16(value[2]) | UInt16(value[3]) << 8
    return start <= end ? start...end : nil
  }
}
