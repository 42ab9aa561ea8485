import Bluetooth

/// Selects the packets of an adapter on the kernel's monitor channel. They are read later than mgmt reports the
/// adapter's controller, or its removal.
///
/// | State   | Input                                     | Effect                                                    |
/// |---------|-------------------------------------------|-----------------------------------------------------------|
/// | any     | a packet of the adapter's controller      | it is the adapter's                                       |
/// | any     | the adapter has another one, or none      | the one before leaves, unless it is known to be gone      |
/// | leaving | a packet of the one that leaves           | it is the adapter's                                       |
/// | leaving | the one that leaves is gone (the kernel's Deleted Index), or the adapter has it again | left it |
struct MonitoredController {
  private var current: UInt16?
  private var leaving: UInt16?
  /// True if the current one was removed, which mgmt has yet to report.
  private var isGone = false

  /// - Parameter number: the kernel's number of the controller that the adapter has; nil for none.
  init(_ number: UInt16?) { current = number }

  /// True if a packet of a controller is the adapter's.
  /// - Parameter present: the number of the adapter's present controller; nil for none.
  mutating func has(_ kind: MonitorPacket.Kind, of number: UInt16, present: UInt16?) -> Bool {
    if present != current {
      leaving = isGone ? nil : current
      current = present
      isGone = false
    }
    if number == current {
      if leaving == number { leaving = nil }
      if kind == .deletedIndex { isGone = true }
      if kind == .newIndex { isGone = false }
      return true
    }
    guard number == leaving else { return false }
    if kind == .deletedIndex { leaving = nil }
    return true
  }
}
