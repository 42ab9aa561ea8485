import Adapter
import Bluetooth

extension PHY {
  /// Its bit in the masks of commands: 0 LE 1M, 1 LE 2M, 2 LE Coded (Core 5.4, Vol 4, Part E, 7.8.64).
  var bit: UInt8 { 1 << (rawValue - 1) }
}

extension Set<PHY> {
  /// A command's mask.
  package var mask: UInt8 { reduce(0) { $0 | $1.bit } }
}
