/// Cuts a stream of octets into HCI packets (Core 5.4, Vol 4, Part A, 2).
///
/// A packet ends by the length in its header and never with a read from the transport: a read may contain several
/// packets, or a piece of one. After an invalid packet type the next packet's beginning is unknown, so synchrony is
/// lost until `reset`.
///
/// A serial line may first carry octets for an earlier host, or others from a starting controller. A `searching` framer
/// drops all octets before a Command Complete or Command Status for Reset, a host's first command.
///
/// | State          | Input                     | Output, next state                           |
/// |----------------|---------------------------|----------------------------------------------|
/// | searching      | octets before the answer  | `.skipped`; searching                        |
/// | searching      | the answer to Reset       | it is the first packet; synchronous          |
/// | synchronous    | octets                    | each whole packet; synchronous               |
/// | synchronous    | an unknown packet type    | `.lost(type)`; asynchronous                  |
/// | asynchronous   | octets                    | none                                         |
/// | any            | `reset`                   | the first state again, nothing buffered      |
///
/// At most one incomplete packet is buffered: 65,540 octets; while searching, six octets.
package struct H4Framer {
  /// The result of received octets.
  package enum Output: Hashable, Sendable {
    /// A whole packet, with its type octet.
    case packet([UInt8])
    /// Synchrony is lost: this octet is no packet type.
    case lost(UInt8)
    /// So many octets before the answer to Reset were dropped.
    case skipped(Int)
  }

  private enum State {
    case searching
    case synchronous
    case asynchronous
  }

  private let first: State
  private var state: State
  /// The incomplete packet; while searching, the possible beginning of the answer.
  private var buffer: [UInt8] = []

  /// - Parameter isSearching: true to drop octets before the answer to Reset; else the first one is a packet type.
  package init(isSearching: Bool = false) {
    first = isSearching ? .searching : .synchronous
    state = first
  }

  /// Receives octets in order, however split.
  package mutating func receive(_ octets: ArraySlice<UInt8>) -> [Output] {
    var outputs: [Output] = []
    switch state {
    case .asynchronous: return []
    case .searching:
      buffer += octets
      let count = buffer.indices.first { Self.mayAnswerReset(buffer[$0...]) } ?? buffer.count
      if count > 0 { outputs.append(.skipped(count)) }
      buffer.removeFirst(count)
      guard buffer.count >= Self.answerLength else { break }
      state = .synchronous
      buffer.removeFirst(cut(buffer[...], into: &outputs))
    case .synchronous where buffer.isEmpty:
      // Mostly whole packets come.
      let count = cut(octets, into: &outputs)
      buffer += octets.dropFirst(count)
    case .synchronous:
      buffer += octets
      buffer.removeFirst(cut(buffer[...], into: &outputs))
    }
    if case .asynchronous = state { buffer = [] }
    return outputs
  }

  /// Forgets the octets received so far.
  package mutating func reset() {
    buffer = []
    state = first
  }

  /// The answers to Reset (Core 5.4, Vol 4, Part E, 7.3.2, 7.7.14 and 7.7.15): the event and its length; then the
  /// credits, the opcode and the status, or the status, the credits and the opcode.
  private static let answers: [[ClosedRange<UInt8>]] = [
    [0x04...0x04, 0x0E...0x0E, 4...0xFF, 0...0xFF, 0x03...0x03, 0x0C...0x0C, 0...0xFF],
    [0x04...0x04, 0x0F...0x0F, 4...4, 0...0xFF, 0...0xFF, 0x03...0x03, 0x0C...0x0C],
  ]
  /// The octets that identify such an answer.
  private static let answerLength = 7

  /// True if octets begin with an answer to Reset, or are the beginning of one.
  private static func mayAnswerReset(_ octets: ArraySlice<UInt8>) -> Bool {
    answers.contains { zip(octets, $0).allSatisfy { $1.contains($0) } }
  }

  /// Cuts the whole packets off.
  /// - Returns: the number of octets.
  private mutating func cut(_ octets: ArraySlice<UInt8>, into outputs: inout [Output]) -> Int {
    var rest = octets
    while let type = rest.first {
      guard let header = Header(type: type) else {
        outputs.append(.lost(type))
        state = .asynchronous
        break
      }
      guard let length = header.length(rest), length <= rest.count else { break }
      outputs.append(.packet(Array(rest.prefix(length))))
      rest = rest.dropFirst(length)
    }
    return octets.count - rest.count
  }

  /// A packet kind's header: the octets before its length, and the octets of the length.
  private struct Header {
    let lengthOffset: Int
    let lengthOctets: Int
    /// The significant bits of the length: 14 for ISO data (Core 5.4, Vol 4, Part E, 5.4.5).
    let mask: Int

    /// Nil for an invalid packet type.
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

    /// The length of the whole packet at the beginning of these octets; nil while its header is incomplete.
    func length(_ octets: ArraySlice<UInt8>) -> Int? {
      guard octets.count >= lengthOffset + lengthOctets else { return nil }
      let first = octets.startIndex + lengthOffset
      let length = lengthOctets == 1 ? Int(octets[first]) : Int(octets[first]) | Int(octets[first + 1]) << 8
      return lengthOffset + lengthOctets + (length & mask)
    }
  }
}
