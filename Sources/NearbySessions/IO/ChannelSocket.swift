private import Dispatch
private import Glibc

/// The socket of an L2CAP channel, or of a stream of a program. Reads and writes may block, so each has a thread of its
/// own.
package final class ChannelSocket: Sendable {
  private let descriptor: Int32
  private let reading = DispatchQueue(label: "bled.nearby.read")
  private let writing = DispatchQueue(label: "bled.nearby.write")

  /// Takes ownership of a blocking descriptor.
  package init(_ descriptor: Int32) { self.descriptor = descriptor }

  deinit { Glibc.close(descriptor) }

  /// The next octets, at most 16 KiB; nil at the end.
  package func read() async -> [UInt8]? {
    await withCheckedContinuation { continuation in
      reading.async { [self] in
        let octets = [UInt8](unsafeUninitializedCapacity: 16 << 10) { buffer, count in
          count = max(0, recv(descriptor, buffer.baseAddress, buffer.count, 0))
        }
        continuation.resume(returning: octets.isEmpty ? nil : octets)
      }
    }
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
