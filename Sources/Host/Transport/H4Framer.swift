/// Cuts a stream of octets into HCI packets (Core 5.4, Vol 4, Part A, 2).
///
/// A packet is cut by the length in its header and never by a read of the transport: one read may bring several
/// packets, or a piece of one. After an octet that is no packet type nothing tells where a packet begins, so synchrony
/// is lost until `reset`.
///
/// | State          | Input                     | Output, next state             |
/// |----------------|---------------------------|--------------------------------|
/// | synchronous    | octets                    | each whole packet; synchronous |
/// | synchronous    | an unknown packet type    | `.lost(type)`; asynchronous    |
/// | asynchronous   | octets                    | none                           |
/// | either         | `reset`                   | synchronous, nothing buffered  |
///
/// At most one packet that is not whole is buffered: 65,540 octets.
package struct H4Framer {
  /// The result of octets that were received.
  package enum Output: Hashable, Sendable {
    /// A whole packet, with the octet of its type.
    case packet([UInt8])
    /// Synchrony is lost: this octet is no packet type.
    case lost(UInt8)
  }

  private var buffer: [UInt8] = []
  /// Where the packet begins that is not whole.
  private var start = 0
  private var isSynchronous = true

  package init() {}

  /// Takes octets in the order in which they came, however they were cut.
  package mutating func receive(_ octets: some Sequence<UInt8>) -> [Output] {
    guard isSynchronous else { return [] }
    buffer.append(contentsOf: octets)
    var outputs: [Output] = []
    while start < buffer.count {
      guard let header = Header(type: buffer[start]) else {
        outputs.append(.lost(buffer[start]))
        reset()
        isSynchronous = false
        return outputs
      }
      guard let length = header.length(buffer[start...]), length <= buffer.count - start else { break }
      outputs.append(.packet(Array(buffer[start..<start + length])))
      start += length
    }
    buffer.removeFirst(start)
    start = 0
    return outputs
  }

  /// Forgets the octets received so far; the next one is a packet type.
  package mutating func reset() {
    buffer = []
    start = 0
    isSynchronous = true
  }

  /// The header of a kind of packet: how many octets stand before its length, and how many the length has.
  private struct Header {
    let lengthOffset: Int
    let lengthOctets: Int
    /// The bits of the length that count: 14 for ISO data (Core 5.4, Vol 4, Part E, 5.4.5).
    let mask: Int

    /// Nil for an octet that is no packet type.
    init?(type: UInt8) {
      switch type {
      // Command, and SCO data: 2 octets, then a length of 1.
      case 0x01, 0x03: (lengthOffset, lengthOctets, mask) = (3, 1, 0xFF)
      case 0x02: (lengthOffset, lengthOctets, mask) = (3, 2, 0xFFFF)
      case 0x04: (lengthOffset, lengthOctets, mask) = (2, 1, 0xFF)
      case 0x05: (lengthOffset, lengthOctets, mask) = (3, 2, 0x3FFF)
      default: return nil
      }
    }

    /// The length of the whole packet at the front of these octets; nil while its header is not whole.
    func length(_ octets: ArraySlice<UInt8>) -> Int? {
      guard octets.count >= lengthOffset + lengthOctets else { return nil }
      let first = octets.startIndex + lengthOffset
      let length = octets[first..<first + lengthOctets].reversed().reduce(0) { $0 << 8 | Int($1) }
      return lengthOffset + lengthOctets + (length & mask)
    }
  }
}
