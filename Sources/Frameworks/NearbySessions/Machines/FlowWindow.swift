/// A stream's or resource's window: the octets its sender may still send before the receiver has consumed some. So a
/// receiver that stops reading delays this flow only.
struct FlowWindow: Hashable, Sendable {
  /// Maximum octets in transit or unread, at the beginning and at any time.
  static let size = 64 << 10

  /// The remaining octets to send.
  private(set) var credit = size
  /// The octets consumed since the last credit, on the receiver's side.
  private var consumed = 0

  /// Octets were sent or received.
  mutating func use(_ count: Int) throws(Violation) {
    guard count <= credit else { throw Violation("\(count) octets where the window has room for \(credit)") }
    credit -= count
  }

  /// The receiver has consumed octets.
  /// - Returns: the credit to send, once it is worth a frame.
  mutating func consume(_ count: Int) -> Int? {
    consumed = min(consumed + count, Self.size - credit)
    guard consumed >= Self.size / 2 else { return nil }
    defer { consumed = 0 }
    credit += consumed
    return consumed
  }

  /// The sender was given credit.
  mutating func give(_ count: Int) throws(Violation) {
    guard count >= 0, credit + count <= Self.size else { throw Violation("credit beyond the window") }
    credit += count
  }
}

/// A file, or other content of known length, on offer.
public struct ResourceOffer: Hashable, Sendable {
  /// The name given by the sender: 1 to 255 octets. `PeerName.file` derives a file name from it.
  public var name: String
  /// The number of octets.
  public var size: UInt64
  /// Its octets' SHA-256 hash, 32 octets.
  public var hash: [UInt8]

  /// Makes an offer.
  public init(name: String, size: UInt64, hash: [UInt8]) {
    self.name = name
    self.size = size
    self.hash = hash
  }
}

/// The reason for a stream's or resource's end.
public enum FlowEnd: UInt8, Hashable, Sendable {
  /// Everything was sent, or received with the offered hash.
  case finished = 0
  /// Cancelled by one side.
  case cancelled = 1
  /// The receiver did not accept it.
  case declined = 2
  /// The received octets do not have the offered hash.
  case damaged = 3
  /// The receiver has no room for it.
  case noRoom = 4
  /// The receiver's limit of open streams and resources is reached.
  case tooMany = 5
}
