import FoundationEssentials
import Glibc

/// Splits a stream of bytes into lines. Used by both ends of the socket.
///
/// | State    | Input                           | Output                                             |
/// |----------|---------------------------------|----------------------------------------------------|
/// | in line  | bytes up to a line feed         | the line, without its line feed; a blank one is left out |
/// | in line  | more than `limit` bytes of line | `TooLong`, once; the bytes are dropped → skipping  |
/// | in line  | no line feed yet                | nothing; the incomplete line is kept               |
/// | skipping | anything up to a line feed      | nothing → in line                                  |
///
/// So an overlong line causes exactly one error, and the lines after it are read normally. The framer never holds more
/// than `limit` octets plus the octets appended since `next` last returned nil.
public struct LineFramer: Sendable {
  /// The longest line both sides accept, in octets, without its line feed: 1 MiB.
  public static let defaultLimit = 1 << 20

  /// A line was longer than the limit and was dropped.
  public struct TooLong: Error, Hashable, Sendable {
    /// The limit, in octets.
    public let limit: Int

    /// The error that answers it, with id null.
    public var error: RPCError {
      RPCError(
        code: RPCError.invalidRequest,
        message: "the line exceeds the limit of \(limit) bytes and was dropped; the next line is read normally")
    }
  }

  /// The longest line, in octets, without its line feed. A change applies to the current line, too.
  public var limit: Int
  private var buffer: [UInt8] = []
  /// The beginning of the next line.
  private var start = 0
  /// There is no line feed between `start` and here.
  private var searched = 0
  private var skipping = false

  /// Makes an empty framer.
  public init(limit: Int = LineFramer.defaultLimit) { self.limit = limit }

  /// The number of octets that wait: complete lines that were not fetched yet, and the incomplete line after them.
  public var buffered: Int { buffer.count - start }

  /// Adds received octets. Call `next` until it returns nil before adding more, or the buffer grows.
  public mutating func append(_ bytes: some Sequence<UInt8>) { buffer.append(contentsOf: bytes) }

  /// Adds octets that a system call put into a buffer.
  public mutating func append(_ bytes: UnsafeRawBufferPointer) { buffer.append(contentsOf: bytes) }

  /// The next complete line without its line feed, or nil if there is none yet. Blank lines are skipped.
  /// - Throws: `TooLong` once for each line longer than `limit`; call it again.
  public mutating func next() throws(TooLong) -> Data? {
    while let end = endOfLine() {
      let line = start..<end
      start = end + 1
      searched = start
      if skipping {
        skipping = false
      } else if line.count > limit {
        throw TooLong(limit: limit)
      } else if !buffer[line].allSatisfy({ $0 == UInt8(ascii: "\r") || $0 == UInt8(ascii: " ") }) {
        return Data(copying: buffer[line])
      }
    }
    if skipping || buffered > limit {
      let first = !skipping
      skipping = true
      buffer.removeAll()
      (start, searched) = (0, 0)
      if first { throw TooLong(limit: limit) }
    } else {
      if start > 0 { buffer.removeFirst(start) }
      (start, searched) = (0, buffer.count)
    }
    return nil
  }

  private func endOfLine() -> Int? {
    buffer.withUnsafeBytes { octets in
      guard let base = octets.baseAddress,
        let found = memchr(base + searched, Int32(UInt8(ascii: "\n")), octets.count - searched)
      else { return nil }
      return UnsafeRawPointer(found) - base
    }
  }
}
