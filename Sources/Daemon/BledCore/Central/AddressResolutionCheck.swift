import GATT

/// Asks a bonded device whether its controller resolves private addresses: its Central Address Resolution (Core 5.4,
/// Vol 3, Part C, 12.4), which has to be 1 before directed advertising calls it under one.
///
/// | State | Input                                           | Then                                          |
/// |-------|-------------------------------------------------|-----------------------------------------------|
/// | idle  | the link is encrypted, and the answer matters   | it is read: asked                             |
/// | asked | 1                                               | it does                                       |
/// | asked | another value, or it has no such characteristic | it does not                                   |
/// | asked | no answer in time, which ends the link          | it does not                                   |
/// | asked | any other answer                                | nothing; the device is asked on its next link |
///
/// The answer matters if our controller generates private addresses from the device's keys, and the device has not
/// answered since pairing.
struct AddressResolutionCheck {
  private var hasAsked = false

  /// The link is encrypted, or there is a bond.
  /// - Returns: the procedure to run; nil for none.
  mutating func begin(on hub: LinkHub) -> GATTProcedure? {
    let device = hub.peripheral
    guard !hasAsked, hub.link.security.level > 1, device.resolvesAddresses == nil,
      hub.slot.adapter.callsPrivately(device.identity)
    else { return nil }
    hasAsked = true
    return .readByUUID(0x2AA6)
  }

  /// True if the device resolves private addresses; nil if unknown.
  static func answer(_ result: Result<GATTResult, GATTError>?) -> Bool? {
    switch result {
    case .success(.values(let values)): values.first?.value == [1]
    case .failure(.att(.attributeNotFound, _)): false
    // The link ends then; the next one would, too.
    case .failure(.bearer(.timeout)): false
    default: nil
    }
  }
}
