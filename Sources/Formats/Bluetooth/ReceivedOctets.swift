/// The octets of a stream that were received and not yet read.
package struct ReceivedOctets: Sendable {
  private var octets: [UInt8] = []
  /// How many at the start were read.
  private var read = 0

  package init() {}

  /// All that was not read.
  package var rest: ArraySlice<UInt8> { octets[read...] }

  package mutating func append(_ more: some Sequence<UInt8>) {
    if read > 0 {
      octets.removeFirst(read)
      read = 0
    }
    octets.append(contentsOf: more)
  }

  /// Drops octets that were read.
  /// - Parameter count: at most `rest.count`.
  package mutating func drop(_ count: Int) { read += min(count, octets.count - read) }

  /// Drops all of them.
  package mutating func removeAll() { (octets, read) = ([], 0) }
}
