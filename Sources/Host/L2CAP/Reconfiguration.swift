import Bluetooth

/// A change of the sizes of enhanced channels' ends, and the rules for it (Core 5.4, Vol 3, Part A, 4.27 and 4.28).
package struct Reconfiguration: Hashable, Sendable {
  /// Why the sizes stay as they are.
  package enum Refusal: Hashable, Error, Sendable {
    /// Packets may only become longer.
    case packetReduced
    /// Pieces may become shorter only on one channel at a time.
    case pieceReduced
    /// One of the numbers is not that of an open enhanced channel.
    case invalidNumber
    /// Other unacceptable parameters.
    case unacceptable
    /// The device does not know the request.
    case notUnderstood
    case noAnswer

    /// The refusal that a result tells; nil for success.
    init?(result: UInt16) {
      switch result {
      case 0x0000: return nil
      case 0x0001: self = .packetReduced
      case 0x0002: self = .pieceReduced
      case 0x0003: self = .invalidNumber
      default: self = .unacceptable
      }
    }

    /// The result that tells it.
    var result: UInt16 {
      switch self {
      case .packetReduced: 0x0001
      case .pieceReduced: 0x0002
      case .invalidNumber: 0x0003
      case .unacceptable, .notUnderstood, .noAnswer: 0x0004
      }
    }
  }

  /// How many channels a request may be about.
  static let maximum = 5

  /// Our numbers of the channels.
  let numbers: [UInt16]
  /// The longest packet that their ends take from now on, in octets.
  let packet: UInt16
  /// The longest piece.
  let piece: UInt16
  /// That of the request.
  let identifier: UInt8
  /// When it is no longer waited for.
  let until: Instant

  /// Checks sizes against the present ones of the ends.
  static func check(_ ends: [ChannelEnd], packet: UInt16, piece: UInt16) throws(Refusal) {
    guard 1...maximum ~= ends.count, let end = ends.first?.resized(packet, piece), end.hasSizes(for: .enhanced) else {
      throw .unacceptable
    }
    guard ends.allSatisfy({ $0.packet <= packet }) else { throw .packetReduced }
    guard ends.count == 1 || ends.allSatisfy({ $0.piece <= piece }) else { throw .pieceReduced }
  }
}

extension ChannelEnd {
  /// The same end with other sizes.
  func resized(_ packet: UInt16, _ piece: UInt16) -> ChannelEnd {
    var end = self
    (end.packet, end.piece) = (packet, piece)
    return end
  }
}
