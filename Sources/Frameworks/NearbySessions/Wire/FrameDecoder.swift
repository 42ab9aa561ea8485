/// Splits a channel's decrypted octets into frames.
///
/// | State   | Input             | Output                                                        |
/// |---------|-------------------|---------------------------------------------------------------|
/// | header  | 8 octets          | `Violation` for an unknown type or a payload that is too long |
/// | payload | the whole payload | the frame; header                                             |
///
/// A header is checked before its payload is awaited, so no more than its type's longest payload is held.
struct FrameDecoder: Sendable {
  private enum State: Sendable {
    case header
    case payload(Frame.Kind, flow: UInt32, length: Int)
  }

  private var state = State.header
  private var held = OctetQueue()

  /// The octets waiting for the rest of their frame.
  var heldCount: Int { held.count }

  mutating func append(_ octets: some Collection<UInt8>) { held.append(octets) }

  /// The next whole frame; nil if more octets are needed.
  mutating func next() throws(Violation) -> Frame? {
    if case .header = state {
      guard let header = held.take(Frame.headerLength) else { return nil }
      guard let kind = Frame.Kind(rawValue: header[0]) else {
        throw Violation("a frame of the unknown type \(header[0])")
      }
      let length = Int(header[5]) << 16 | Int(header[6]) << 8 | Int(header[7])
      guard length <= kind.longest else { throw Violation("a frame \"\(kind)\" of \(length) octets") }
      state = .payload(kind, flow: header[1...4].reduce(0) { $0 << 8 | UInt32($1) }, length: length)
    }
    guard case .payload(let kind, let flow, let length) = state, let payload = held.take(length) else { return nil }
    state = .header
    return Frame(kind: kind, flow: flow, payload: payload)
  }
}

/// Octets in order of arrival, removed from the front without moving the rest each time.
struct OctetQueue: Sendable {
  private var octets: [UInt8] = []
  private var start = 0

  var count: Int { octets.count - start }

  mutating func append(_ more: some Collection<UInt8>) {
    if start > 0, start >= octets.count / 2 {
      octets.removeFirst(start)
      start = 0
    }
    octets.append(contentsOf: more)
  }

  /// Removes this number of octets; nil if there are fewer.
  mutating func take(_ length: Int) -> [UInt8]? {
    guard length >= 0, count >= length else { return nil }
    defer { start += length }
    return Array(octets[start..<start + length])
  }

  /// Removes at most this number of octets.
  mutating func takeUp(to length: Int) -> [UInt8] { take(min(count, length)) ?? [] }
}
