import Adapter
import BledRPC
import Bluetooth

/// Parameters of channels in a program's words.
extension ChannelParameters {
  /// The words for levels of protection, from 1 on.
  private static let levels = ["none", "encrypted", "authenticated", "secureConnections"]

  /// - Throws: `BledError.invalidParameter` for other words and lengths.
  init(security: String?, receiveMTU: Int?, mode: String?) throws {
    self.init()
    if let security { level = try Self.index(of: security, in: Self.levels, "security") + 1 }
    if let mode {
      let modes = ChannelMode.allCases
      self.mode = modes[try Self.index(of: mode, in: modes.map(\.rawValue), "mode")]
    }
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

  private static func index(of word: String, in words: [String], _ name: String) throws -> Int {
    guard let index = words.firstIndex(where: { $0.hasSameOctets(as: word) }) else {
      let known = words.map { "\"\($0)\"" }.joined(separator: ", ")
      throw BledError.invalidParameter.error("\"\(name)\" must be one of \(known)")
    }
    return index
  }
}
