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

  /// The packet that is not whole.
  private var buffer: [UInt8] = []
  private var isSynchronous = true

  package init() {}

  /// Takes octets in the order in which they came, however they were cut.
  package mutating func receive(_ octets: ArraySlice<UInt8>) -> [Output] {
    guard isSynchronous else { return [] }
    var outputs: [Output] = []
    if buffer.isEmpty {
      // Mostly whole packets come.
      let count = cut(octets, into: &outputs)
      buffer += octets.dropFirst(count)
    } else {
      buffer += octets
      let count = cut(buffer[...], into: &outputs)
      buffer.removeFirst(count)
    }
    if !isSynchronous { buffer = [] }
    return outputs
  }

  /// Forgets the octets received so far; the next one is a packet type.
  package mutating func reset() {
    buffer = []
    isSynchronous = true
  }

  /// Cuts the whole packets off.
  /// - Returns: how many octets they have.
  private mutating func cut(_ octets: ArraySlice<UInt8>, into outputs: inout [Output]) -> Int {
    var rest = octets
    while let type = rest.first {
      guard let header = Header(type: type) else {
        outputs.append(.lost(type))
        isSynchronous = false
        break
      }
      guard let length = header.length(rest), length <= rest.count else { break }
      outputs.append(.packet(Array(rest.prefix(length))))
      rest = rest.dropFirst(length)
    }
    return octets.count - rest.count
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
      let length = lengthOctets == 1 ? Int(octets[first]) : Int(octets[first]) | Int(octets[first + 1]) << 8
      return lengthOffset + lengthOctets + (length & mask)
    }
  }
}
