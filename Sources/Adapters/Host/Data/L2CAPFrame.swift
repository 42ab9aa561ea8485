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

  /// The channel's number at the receiver.
  package var channel: UInt16
  /// At most 65,535 octets.
  package var payload: [UInt8]

  /// Makes a frame.
  package init(channel: UInt16, payload: [UInt8]) {
    self.channel = channel
    self.payload = payload
  }

  /// Makes a frame from its octets, as long as its `length`.
  init(whole octets: ArraySlice<UInt8>) {
    let start = octets.startIndex
    channel = UInt16(octets[start + 2]) | UInt16(octets[start + 3]) << 8
    payload = Array(octets[(start + Self.header)...])
  }

  /// The length in octets of the frame that begins so; nil while its header is incomplete.
  static func length(of octets: ArraySlice<UInt8>) -> Int? {
    let start = octets.startIndex
    return octets.count < header ? nil : header + Int(octets[start]) + Int(octets[start + 1]) << 8
  }

  /// The frame as it is sent.
  /// - Parameter room: octets to leave free before the frame.
  package func octets(behind room: Int = 0) -> [UInt8] {
    let length = UInt16(clamping: payload.count)
    let start = room + Self.header
    // Takes a third of the time of `[UInt8](repeating:count:)`, which looks up type metadata.
    var octets = Array(repeatElement(UInt8(0), count: start + Int(length)))
    octets[room] = UInt8(length & 0xFF)
    octets[room + 1] = UInt8(length >> 8)
    octets[room + 2] = UInt8(channel & 0xFF)
    octets[room + 3] = UInt8(channel >> 8)
    octets.withUnsafeMutableBytes { octets in
      UnsafeMutableRawBufferPointer(rebasing: octets[start...]).copyBytes(from: payload.prefix(Int(length)))
    }
    return octets
  }
}
