import Bluetooth

/// Keeps the frames of a link that come while it is being encrypted: events and data come over different pipes of a
/// controller, and encrypted requests may overtake the event that the link is encrypted. They would be refused.
///
/// | State   | Input                                       | Then                                            |
/// |---------|---------------------------------------------|-------------------------------------------------|
/// | open    | `begin`: the controller was given the key   | holding                                         |
/// | open    | `keep`                                      | false: the frame is delivered                   |
/// | holding | a frame in the first 7.5 ms                 | delivered: it may have been sent in plain text  |
/// | holding | `keep`                                      | kept, up to 8 frames; beyond that false         |
/// | holding | `end`: the event, the deadline, no room, the link's end | open; the frames are delivered, in order |
///
/// For links on which we are peripheral only: once its device asked for encryption, its controller sends nothing in
/// plain text (Core 5.4, Vol 6, Part B, 5.1.3.1), but frames that it sent before may come after its request, and would
/// count as encrypted. A peripheral may even go on in plain text after a central's request.
package struct EncryptionHold {
  /// As many frames are kept.
  package static let limit = 8
  /// For so long.
  package static let timeout = Duration.seconds(1)
  /// The two other packets of the procedure take that long on most links.
  package static let delay = Duration.microseconds(7500)

  /// Nil while frames are delivered.
  private var frames: [L2CAPFrame]?
  private var beginning = Instant.zero

  package init() {}

  package mutating func begin(at now: Instant) {
    guard frames == nil else { return }
    frames = []
    beginning = now.advanced(by: Self.delay)
  }

  /// Whether it has begun.
  package var hasBegun: Bool { frames != nil }

  /// Whether a frame that comes now is to be kept, with or without room.
  package func isHolding(at now: Instant) -> Bool { frames != nil && now >= beginning }

  /// - Returns: false if the frame was not kept.
  package mutating func keep(_ frame: L2CAPFrame) -> Bool {
    guard let count = frames?.count, count < Self.limit else { return false }
    frames?.append(frame)
    return true
  }

  /// - Returns: the frames that were kept.
  package mutating func end() -> [L2CAPFrame] {
    defer { frames = nil }
    return frames ?? []
  }
}
