import Adapter
import BledRPC
import Bluetooth

/// Parameters of channels in a program's words.
extension ChannelParameters {
  /// - Throws: `BledError.invalidParameter` for lengths that the mode does not support.
  init(security: ChannelSecurity?, receiveMTU: Int?, mode: ChannelMode?) throws {
    self.init()
    if let security { level = security.level }
    if let mode { self.mode = mode }
    if let receiveMTU {
      let lengths = self.mode?.lengths ?? Self.lengths
      guard lengths.contains(receiveMTU) else {
        let kind = self.mode == .enhanced ? " of an enhanced channel" : ""
        throw BledError.invalidParameter.error(
          "\"receiveMTU\"\(kind) must be \(lengths.lowerBound) to \(lengths.upperBound) octets")
      }
      self.receiveMTU = receiveMTU
    }
  }
}
