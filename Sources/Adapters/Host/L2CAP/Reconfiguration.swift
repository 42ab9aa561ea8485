import Bluetooth

/// The rules for other sizes of enhanced channels' ends (Core 5.4, Vol 3, Part A, 4.27 and 4.28).
enum Reconfiguration {
  /// The reason why the sizes are unchanged.
  enum Refusal: UInt16, Error {
    /// Packets may only become longer.
    case packetReduced = 0x0001
    /// Pieces may become shorter only on one channel at a time.
    case pieceReduced = 0x0002
    /// A number does not belong to an open enhanced channel.
    case invalidNumber = 0x0003
    /// Other unacceptable parameters.
    case unacceptable = 0x0004
  }

  /// Maximum channels in a request.
  static let maximum = 5

  /// Checks sizes against the ends' present ones.
  static func check(_ ends: [ChannelEnd], packet: UInt16, piece: UInt16) throws(Refusal) {
    guard 1...maximum ~= ends.count, let end = ends.first?.resized(packet, piece), end.hasSizes(for: .enhanced) else {
      throw .unacceptable
    }
    guard ends.allSatisfy({ $0.packet <= packet }) else { throw .packetReduced }
    guard ends.count == 1 || ends.allSatisfy({ $0.piece <= piece }) else { throw .pieceReduced }
  }
}

extension ChannelEnd {
  /// The end with other sizes.
  func resized(_ packet: UInt16, _ piece: UInt16) -> ChannelEnd {
    var end = self
    (end.packet, end.piece) = (packet, piece)
    return end
  }
}
