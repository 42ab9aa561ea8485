private import Dispatch
private import Glibc

/// The socket for an L2CAP channel, or for a program's stream. Blocking reads and writes have their own threads.
package final class BlockingSocket: Sendable {
  private let descriptor: Int32
  private let reading = DispatchQueue(label: "bled.nearby.read")
  private let writing = DispatchQueue(label: "bled.nearby.write")

  /// Takes ownership of a blocking descriptor.
  package init(_ descriptor: Int32) { self.descriptor = descriptor }

  deinit { Glibc.close(descriptor) }

  /// Maximum octets per read.
  private static let readLimit = 64 << 10

  /// Waits for the next octets, at most 64 KiB.
  /// - Returns: all available octets; nil at the end.
  package func read() async -> [UInt8]? {
    await withCheckedContinuation { continuation in
      reading.async { [self] in continuation.resume(returning: receive(0)) }
    }
  }

  /// The available octets, at most 64 KiB; nil also at the end.
  func readNow() -> [UInt8]? { receive(Int32(MSG_DONTWAIT)) }

  private func receive(_ flags: Int32) -> [UInt8]? {
    let octets = [UInt8](unsafeUninitializedCapacity: Self.readLimit) { buffer, length in
      length = max(0, recv(descriptor, buffer.baseAddress, buffer.count, flags))
    }
    return octets.isEmpty ? nil : octets
  }

  /// Writes as many octets as there is room for.
  /// - Returns: the number written; 0 also at the end of the channel.
  func writeNow(_ octets: [UInt8]) -> Int {
    max(0, send(descriptor, octets, octets.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT)))
  }

  /// Writes all octets, as soon as there is room.
  /// - Returns: false at the end of the channel.
  package func write(_ octets: [UInt8]) async -> Bool {
    await withCheckedContinuation { continuation in
      writing.async { [self] in
        var rest = octets[...]
        while !rest.isEmpty {
          let count = rest.withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
          guard count > 0 else { return continuation.resume(returning: false) }
          rest = rest.dropFirst(count)
        }
        continuation.resume(returning: true)
      }
    }
  }

  /// Ends both directions: pending reads and writes return. The descriptor is closed with the last reference.
  package func close() { shutdown(descriptor, Int32(SHUT_RDWR)) }
}
