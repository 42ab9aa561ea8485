/// A frame of L2CAP in basic mode: a channel and its payload (Core 5.4, Vol 3, Part A, 3.1).
package struct L2CAPFrame: Hashable, Sendable {
  /// The fixed channels of LE links (2.1).
  package enum Fixed {
    package static let attribute: UInt16 = 0x0004
    package static let signalling: UInt16 = 0x0005
    package static let securityManager: UInt16 = 0x0006
  }

  /// The octets before the payload.
  static let header = 4

  /// The number of the channel at the receiver.
  package var channel: UInt16
  /// At most 65,535 octets.
  package var payload: [UInt8]

  /// Makes a frame.
  package init(channel: UInt16, payload: [UInt8]) {
    self.channel = channel
    self.payload = payload
  }

  /// The frame as it is sent.
  package var octets: [UInt8] {
    let length = UInt16(clamping: payload.count)
    var octets: [UInt8] = []
    octets.reserveCapacity(Self.header + Int(length))
    octets.append(UInt8(length & 0xFF))
    octets.append(UInt8(length >> 8))
    octets.append(UInt8(channel & 0xFF))
    octets.append(UInt8(channel >> 8))
    octets.append(contentsOf: payload.prefix(Int(length)))
    return octets
  }
}
