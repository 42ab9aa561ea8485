/// Tells which signed packets of one peer are genuine and new (Core 5.4, Vol 3, Part C, 10.4.2, and Part H, 2.4.5).
public struct PeerSignature: Hashable, Sendable {
  private let key: Key128
  /// The counter of the last packet that was accepted, to be kept with the key; nil before the first.
  public private(set) var lastCounter: UInt32?

  /// Begins, or goes on, with a peer's signatures.
  /// - Parameters:
  ///   - key: the peer's connection signature resolving key (CSRK).
  ///   - lastCounter: what was kept of an earlier connection; nil with a key that is new.
  public init(key: Key128, lastCounter: UInt32? = nil) {
    self.key = key
    self.lastCounter = lastCounter
  }

  /// Checks the signature of a whole packet, and that nobody sends an old one again: its counter must be above all before.
  public mutating func accepts(_ packet: [UInt8]) -> Bool {
    guard let counter = ATTSignature.verify(packet, key: key) else { return false }
    if let lastCounter, counter <= lastCounter { return false }
    lastCounter = counter
    return true
  }
}
