import BledClient
import FoundationEssentials

/// A connection for unprocessed lines to and from the daemon.
@MainActor final class RawConnection {
  private let connection: LineConnection
  private let lines: AsyncThrowingStream<String, any Error>

  init(to path: String) async throws {
    connection = try await LineConnection.connect(to: path)
    let (stream, output) = AsyncThrowingStream.makeStream(of: String.self, bufferingPolicy: .bufferingNewest(4096))
    lines = stream
    connection.start(
      line: { line, _ in output.yield(String(decoding: line, as: UTF8.self)) }, closed: { output.finish(throwing: $0) })
  }

  /// Sends a line.
  func send(_ line: String) { connection.send(Data((line + "\n").utf8)) }

  /// The next line, or nil at the end.
  func next() async throws -> String? {
    var iterator = lines.makeAsyncIterator()
    return try await iterator.next(isolation: MainActor.shared)
  }

  func close() { connection.close() }
}
