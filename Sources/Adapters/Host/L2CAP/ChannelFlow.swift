import DequeModule

/// A channel's packets (SDUs) in a credit-based flow control mode, in both directions, and the credits for their pieces
/// (Core 5.4, Vol 3, Part A, 3.4.3, 10.1 and 10.2).
///
/// | Input                       | Effect                                                                            |
/// |-----------------------------|-----------------------------------------------------------------------------------|
/// | `send`                      | cut into pieces; `nextPiece` gives as many as there are credits                   |
/// | `resize`                    | waiting pieces are cut again if the device takes shorter ones now                 |
/// | `credited`                  | more pieces may leave; above 65,535 credits a fault                               |
/// | `receive`                   | the last piece of a packet: it waits for `nextPacket`; an empty packet is dropped |
/// | `receive`, against the rules| a fault: the channel is to be closed                                              |
/// | `nextPacket`                | the credits of its pieces can be given again: `creditsToGive`                     |
///
/// A device has credits for a whole packet, at least 16 pieces. It gets none for waiting packets, so at most its
/// credits and one packet are buffered.
package struct ChannelFlow {
  /// The rule broken by a device.
  package enum Fault: Hashable, Error, CustomStringConvertible {
    /// More than 65,535 credits.
    case tooManyCredits
    /// A piece without a credit.
    case noCredit
    /// A piece longer than we take.
    case pieceTooLong
    /// A packet longer than we take, or than its first piece says.
    case packetTooLong
    /// A piece without an octet, or a first one without the length.
    case pieceTooShort

    package var description: String {
      switch self {
      case .tooManyCredits: "it gave more than 65535 credits"
      case .noCredit: "it had no credit"
      case .pieceTooLong: "a piece is too long"
      case .packetTooLong: "a packet is too long"
      case .pieceTooShort: "a piece is too short"
      }
    }
  }

  /// One direction's sizes, in octets.
  package struct Sizes: Hashable, Sendable {
    /// The longest packet, 23 to 65535.
    package var packet: Int
    /// The longest piece, 23 to 65533.
    package var piece: Int

    package init(packet: Int, piece: Int) {
      self.packet = packet
      self.piece = piece
    }

    /// A device's initial credits.
    package var credits: UInt16 { UInt16(clamping: max(16, pieces)) }

    /// The pieces of the longest packet, whose length precedes it.
    private var pieces: Int { (packet + 2 + piece - 1) / piece }

    /// The sizes with shorter pieces that fill the controller's packets, if so many credits suffice for the longest
    /// packet in such pieces.
    /// - Parameter length: octets in a controller's packet, 27 or more.
    package func filling(_ length: Int, credits: UInt16) -> Sizes {
      let whole = (piece + L2CAPFrame.header) / length * length - L2CAPFrame.header
      guard whole >= Self.shortest else { return self }
      let filling = Sizes(packet: packet, piece: whole)
      return filling.pieces <= credits ? filling : self
    }

    /// The lowest permitted maximum of pieces (10.1).
    private static let shortest = 23
  }

  package let receiving: Sizes
  package private(set) var sending: Sizes

  private var outgoing: Deque<[UInt8]> = []
  /// The pieces we may send.
  private var credits: Int
  /// The incomplete packet: its length, octets and number of pieces.
  private var partial: (length: Int, octets: [UInt8], pieces: Int)?
  private var incoming: Deque<(octets: [UInt8], pieces: Int)> = []
  /// The pieces the device may send.
  private var given: Int
  /// The waiting packets' pieces.
  private var held = 0

  /// - Parameter credits: the device's initial credits.
  package init(receiving: Sizes, sending: Sizes, credits: UInt16) {
    self.receiving = receiving
    self.sending = sending
    self.credits = Int(credits)
    given = Int(receiving.credits)
  }

  // MARK: - To the device

  /// True if nothing waits for credits.
  package var isWritable: Bool { outgoing.isEmpty }

  /// Sends a packet of 1 to `sending.packet` octets.
  package mutating func send(_ packet: [UInt8]) {
    let length = UInt16(clamping: packet.count)
    var rest = ([UInt8(length & 0xFF), UInt8(length >> 8)] + packet)[...]
    while !rest.isEmpty {
      outgoing.append(Array(rest.prefix(sending.piece)))
      rest = rest.dropFirst(sending.piece)
    }
  }

  /// The device takes other sizes, also of waiting pieces.
  package mutating func resize(_ sizes: Sizes) {
    sending = sizes
    outgoing = Deque(
      outgoing.flatMap { piece in
        stride(from: 0, to: piece.count, by: sizes.piece).map { Array(piece[$0...].prefix(sizes.piece)) }
      })
  }

  /// The next piece, if there is a credit.
  package mutating func nextPiece() -> [UInt8]? {
    guard credits > 0, let piece = outgoing.popFirst() else { return nil }
    credits -= 1
    return piece
  }

  /// The device gave credits.
  package mutating func credited(_ count: UInt16) throws(Fault) {
    guard credits + Int(count) <= 65_535 else { throw .tooManyCredits }
    credits += Int(count)
  }

  // MARK: - From the device

  /// A piece was received.
  package mutating func receive(_ piece: [UInt8]) throws(Fault) {
    guard given > 0 else { throw .noCredit }
    given -= 1
    // The packet's length does not count in its first piece.
    let isFirst = partial == nil
    guard piece.count <= receiving.piece + (isFirst ? 2 : 0) else { throw .pieceTooLong }
    guard piece.count >= (isFirst ? 2 : 1) else { throw .pieceTooShort }
    var packet = partial ?? (length: Int(piece[0]) | Int(piece[1]) << 8, octets: [], pieces: 0)
    // With a second owner, all octets would be copied for each piece.
    partial = nil
    packet.octets += isFirst ? piece.dropFirst(2) : piece[...]
    packet.pieces += 1
    guard packet.length <= receiving.packet, packet.octets.count <= packet.length else { throw .packetTooLong }
    guard packet.octets.count == packet.length else { return partial = packet }
    guard packet.length > 0 else { return }
    incoming.append((packet.octets, packet.pieces))
    held += packet.pieces
  }

  /// True if a whole packet waits.
  package var hasPackets: Bool { !incoming.isEmpty }

  /// The next packet.
  package mutating func nextPacket() -> [UInt8]? {
    guard let (octets, pieces) = incoming.popFirst() else { return nil }
    held -= pieces
    return octets
  }

  /// The credits for the device now; 0 while it has enough.
  package mutating func creditsToGive() -> UInt16 {
    let window = Int(receiving.credits)
    let owed = window - held - given
    guard owed > 0, given == 0 || owed >= window / 2 else { return 0 }
    given += owed
    return UInt16(clamping: owed)
  }
}
