/// The octets queued for a socket.
package struct UnsentOctets: Sendable {
  private var octets: [UInt8] = []
  /// The number of octets at the start that are written.
  private var written = 0

  package init() {}

  package var isEmpty: Bool { octets.isEmpty }

  /// The number of octets that wait.
  package var count: Int { octets.count - written }

  package mutating func append(_ line: some Sequence<UInt8>) { octets.append(contentsOf: line) }

  package mutating func removeAll() { (octets, written) = ([], 0) }

  /// Writes until all is written or there is no room; `wrote` is called with the number of octets of each part.
  /// - Throws: `Errno.again` if there is no room for the rest; any other if the connection failed.
  package mutating func write(to socket: Socket, wrote: (Int) -> Void) throws(Errno) {
    while written < octets.count {
      switch octets.withUnsafeBytes({ socket.send(UnsafeRawBufferPointer(rebasing: $0[written...])) }) {
      case .success(let count):
        written += count
        wrote(count)
      case .failure(let error):
        // Written octets are removed only now and then, because that moves the rest.
        if written > octets.count / 2 {
          octets.removeFirst(written)
          written = 0
        }
        throw error
      }
    }
    removeAll()
  }
}
