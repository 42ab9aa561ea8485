import Foundation
import Glibc
import Testing

@testable import BledClient
@testable import CoreBluetooth

/// Far more octets than the buffers of a channel hold, in both directions at once.
@Suite struct LongEchoTests {
  /// A program whose streams are scheduled in one run loop each, or both in one.
  private final class User: NSObject, StreamDelegate, @unchecked Sendable {
    private let channel: CBL2CAPChannel
    private let octets: Data
    private let chunk: Int
    private let lock = NSLock()
    private var written = 0
    private var read = Data()

    init(_ channel: CBL2CAPChannel, writing octets: Data, chunk: Int, isOnTwoThreads: Bool) {
      (self.channel, self.octets, self.chunk) = (channel, octets, chunk)
      super.init()
      nonisolated(unsafe) let (input, output) = (channel.inputStream as Stream, channel.outputStream as Stream)
      for streams in isOnTwoThreads ? [[input], [output]] : [[input, output]] {
        nonisolated(unsafe) let streams = streams
        Thread { [self] in
          for stream in streams {
            stream.delegate = self
            stream.schedule(in: .current, forMode: .default)
            stream.open()
          }
          RunLoop.current.run()
        }.start()
      }
    }

    var received: Data { lock.withLock { read } }

    func close() {
      channel.inputStream.close()
      channel.outputStream.close()
    }

    func stream(_ stream: Stream, handle event: Stream.Event) {
      switch event {
      case .hasBytesAvailable:
        var buffer = [UInt8](repeating: 0, count: chunk)
        let count = channel.inputStream.read(&buffer, maxLength: chunk)
        lock.withLock { read += buffer.prefix(max(count, 0)) }
      case .hasSpaceAvailable:
        let next = Array(octets.dropFirst(written).prefix(chunk))
        if !next.isEmpty { written += max(channel.outputStream.write(next, maxLength: next.count), 0) }
      default: break
      }
    }
  }

  /// The other end: it echoes its input until that ends.
  private static func echo(on descriptor: Int32) {
    Thread {
      var buffer = [UInt8](repeating: 0, count: 4096)
      while true {
        let count = recv(descriptor, &buffer, buffer.count, 0)
        guard count > 0 else { break }
        var sent = 0
        while sent < count {
          let part = buffer[sent..<count].withUnsafeBytes {
            send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
          }
          guard part > 0 else { break }
          sent += part
        }
      }
      Glibc.close(descriptor)
    }.start()
  }

  @Test(
    "R39: a delegate that reads while it writes receives all of a mebibyte", arguments: [512, 16_384], [true, false])
  func mebibyte(chunk: Int, isOnTwoThreads: Bool) async throws {
    let octets = Data((0..<1 << 20).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) })
    for _ in 0..<4 {
      var ends: [Int32] = [0, 0]
      #expect(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
      Self.echo(on: ends[1])
      let channel = CBL2CAPChannel(to: CBPeer(identifier: UUID()), psm: 128, ReceivedDescriptor(ends[0]))
      let user = User(channel, writing: octets, chunk: chunk, isOnTwoThreads: isOnTwoThreads)
      try await until { user.received.count >= octets.count }
      #expect(user.received.count == octets.count)
      #expect(user.received == octets)
      user.close()
      guard user.received.count == octets.count else { break }
    }
  }
}
