import Adapter
import BledRPC
import Bluetooth

/// What a program's words say of channels.
extension ChannelParameters {
  /// The words for levels of protection, from 1 on.
  private static let levels = ["none", "encrypted", "authenticated", "secureConnections"]

  /// - Throws: `BledError.invalidParameter` for other words and lengths.
  init(security: String?, receiveMTU: Int?) throws {
    self.init()
    if let security {
      guard let index = Self.levels.firstIndex(where: { $0.hasSameOctets(as: security) }) else {
        let known = Self.levels.map { "\"\($0)\"" }.joined(separator: ", ")
        throw BledError.invalidParameter.error("\"security\" must be one of \(known)")
      }
      level = index + 1
    }
    if let receiveMTU {
      guard Self.lengths.contains(receiveMTU) else {
        throw BledError.invalidParameter.error("\"receiveMTU\" must be 23 to 65535 octets")
      }
      self.receiveMTU = receiveMTU
    }
  }
}
