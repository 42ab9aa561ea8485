import Bluetooth

/// The messages queued for the bus, the oldest first.
package struct Backlog {
  /// With more messages than this no events are accepted from bled.
  package static let many = 512
  /// With more messages, or more octets, calls of programs are refused.
  package static let (maximum, maximumOctets) = (8192, 16 << 20)
  /// The time without a written message after which the bus counts as stuck.
  package static let timeout = Duration.seconds(60)

  private var sizes: [Int] = []
  private var octets = 0
  private var lastWritten = Instant.zero
  /// The number of calls that were refused since messages began to wait.
  package private(set) var refused = 0

  package init() {}

  package var isEmpty: Bool { sizes.isEmpty }
  package var isCongested: Bool { sizes.count > Self.many }

  /// A message was given to the bus.
  package mutating func add(_ size: Int, at now: Instant) {
    if sizes.isEmpty { lastWritten = now }
    sizes.append(size)
    octets += size
  }

  /// Notes that messages may have been written.
  /// - Parameter count: the number of messages that wait now.
  package mutating func update(_ count: Int, at now: Instant) {
    let written = sizes.count - max(0, count)
    // Calls of programs' methods wait, too, and are not counted here.
    guard written > 0 else { return }
    lastWritten = now
    guard written < sizes.count else {
      sizes.removeAll(keepingCapacity: true)
      return (octets, refused) = (0, 0)
    }
    for size in sizes[..<written] { octets -= size }
    sizes.removeFirst(written)
  }

  /// Returns true if there is room for the answer to a call; if not, the call counts as refused.
  package mutating func hasRoom() -> Bool {
    guard sizes.count > Self.maximum || octets > Self.maximumOctets else { return true }
    refused += 1
    return false
  }

  /// Returns true if the bus has accepted nothing for too long.
  package func isStuck(at now: Instant) -> Bool {
    !sizes.isEmpty && lastWritten.advanced(by: Self.timeout) <= now
  }
}
