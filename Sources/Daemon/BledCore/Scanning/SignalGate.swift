import BledRPC
import Bluetooth

/// The signal strength a device needs to enter the range, and to stay in it.
struct SignalGate: Hashable {
  /// In dBm; nil: anything.
  private let entry: Int?
  /// In dBm, at most `entry`.
  private let exit: Int?

  /// - Parameters:
  ///   - entry: a device enters the range at this strength or above, in dBm.
  ///   - exit: a device leaves the range below this strength, in dBm; nil: as `entry`.
  init(entry: Int?, exit: Int?) throws {
    if let exit {
      guard let entry, exit <= entry else {
        throw BledError.invalidParameter.error(
          """
          "rssiOut" is the strength below which a device is out again: give "rssi", too, which is the strength at which \
          it comes in, and at least as much
          """)
      }
    }
    self.entry = entry
    self.exit = exit ?? entry
  }

  /// True if a device's previous state matters.
  var hasHysteresis: Bool { entry != exit }

  /// True if a device is in range. A device of unknown strength keeps its state if there is a threshold.
  func admits(_ rssi: Int?, isIn: Bool) -> Bool {
    guard let threshold = isIn ? exit : entry else { return true }
    guard let rssi else { return isIn }
    return rssi >= threshold
  }
}
