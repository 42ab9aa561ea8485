import BledRPC
import FoundationEssentials

/// The lines of an octet stream, each with its descriptor.
///
/// A descriptor is passed with the octets of one line alone, so it belongs to the line of the last octet read with it
/// (unix(7), SCM_RIGHTS).
package struct ReceivedLines: Sendable {
  private var framer = LineFramer()
  /// The descriptor of the line that is not complete yet.
  private var passed: ReceivedDescriptor?
  /// The descriptor of the last octets that were appended.
  private var last: ReceivedDescriptor?

  package init() {}

  /// Adds the octets of one read. Call `next` until it returns nil before adding more.
  package mutating func append(_ octets: some Sequence<UInt8>, with descriptor: ReceivedDescriptor?) {
    framer.append(octets)
    last = descriptor
  }

  /// The next complete line without its line feed; nil if there is none yet.
  /// - Throws: `LineFramer.TooLong` for a line of more than 1 MiB.
  package mutating func next() throws(LineFramer.TooLong) -> (line: Data, descriptor: ReceivedDescriptor?)? {
    guard let line = try framer.next() else {
      if let last { passed = last }
      last = nil
      return nil
    }
    var descriptor = passed
    passed = nil
    if framer.buffered == 0, last != nil { (descriptor, last) = (last, nil) }
    return (line, descriptor)
  }
}
