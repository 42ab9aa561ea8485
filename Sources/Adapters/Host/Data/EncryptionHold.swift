import Bluetooth

/// Keeps a link's frames received during its encryption: events and data use different pipes of a controller, and
/// encrypted requests may overtake the encryption event. They would be refused.
///
/// | State   | Input                                       | Then                                            |
/// |---------|---------------------------------------------|-------------------------------------------------|
/// | open    | `begin`: the controller was given the key   | holding                                         |
/// | open    | `keep`                                      | false: the frame is delivered                   |
/// | holding | a frame in the first 7.5 ms                 | delivered: it may have been sent in plain text  |
/// | holding | `keep`                                      | kept, up to 8 frames; beyond that false         |
/// | holding | `end`: the event, the deadline, no room, the link's end | open; the frames are delivered, in order |
///
/// For links on which we are peripheral only: after a device's encryption request its controller sends nothing in plain
/// text (Core 5.4, Vol 6, Part B, 5.1.3.1), but frames sent earlier may arrive after the request, and would count as
/// encrypted. A peripheral may even continue in plain text after a central's request.
package struct EncryptionHold {
  /// The maximum number of kept frames.
  package static let limit = 8
  /// For so long.
  package static let timeout = Duration.seconds(1)
  /// The duration of the procedure's two other packets on most links.
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

  package var hasBegun: Bool { frames != nil }

  /// True if a frame received now is to be kept, with or without room.
  package func isHolding(at now: Instant) -> Bool { frames != nil && now >= beginning }

  /// - Returns: false if the frame was not kept.
  package mutating func keep(_ frame: L2CAPFrame) -> Bool {
    guard let count = frames?.count, count < Self.limit else { return false }
    frames?.append(frame)
    return true
  }

  /// - Returns: the kept frames.
  package mutating func end() -> [L2CAPFrame] {
    defer { frames = nil }
    return frames ?? []
  }
}
