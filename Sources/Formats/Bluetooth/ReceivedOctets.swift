/// A stream's octets received and not yet read.
package struct ReceivedOctets: Sendable {
  private var octets: [UInt8] = []
  /// Octets already read at the start.
  private var read = 0

  package init() {}

  /// The unread octets.
  package var rest: ArraySlice<UInt8> { octets[read...] }

  package mutating func append(_ more: some Sequence<UInt8>) {
    if read > 0 {
      octets.removeFirst(read)
      read = 0
    }
    octets.append(contentsOf: more)
  }

  /// Drops read octets.
  /// - Parameter count: at most `rest.count`.
  package mutating func drop(_ count: Int) { read += min(count, octets.count - read) }

  /// Drops all of them.
  package mutating func removeAll() { (octets, read) = ([], 0) }
}
