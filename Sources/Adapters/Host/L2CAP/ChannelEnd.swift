import Bluetooth

/// One end of a channel, as announced to the other (Core 5.4, Vol 3, Part A, 4.22, 4.23, 4.25 and 4.26).
package struct ChannelEnd: Hashable, Sendable {
  /// Its number (CID).
  package var number: UInt16
  /// The longest accepted packet, in octets.
  package var packet: UInt16
  /// The longest accepted piece, in octets.
  package var piece: UInt16
  /// The initially accepted pieces.
  package var credits: UInt16

  package init(number: UInt16, packet: UInt16, piece: UInt16, credits: UInt16) {
    self.number = number
    self.packet = packet
    self.piece = piece
    self.credits = credits
  }

  /// True if the specification allows its sizes.
  func hasSizes(for mode: ChannelMode) -> Bool {
    mode.lengths.contains(Int(packet)) && mode.lengths.lowerBound...65_533 ~= Int(piece)
  }

  /// True if the number is one of LE's dynamic ones (2.1).
  var hasNumber: Bool { ChannelTable.numbers.contains(number) }

  /// The end with another number.
  func numbered(_ number: UInt16) -> ChannelEnd {
    var end = self
    end.number = number
    return end
  }
}

/// Our answer to a device's request for channels.
package enum ChannelOffer: Hashable, Sendable {
  /// Granted, with these sizes and credits; the number does not count.
  case granted(ChannelEnd)
  /// Refused with this result (4.23, 4.26).
  case refused(UInt16)
}
