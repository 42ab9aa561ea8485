import Bluetooth
import DequeModule

/// Puts the advertisements and scan responses of an active scan together, so that each advertising event is told once.
///
/// | Input                                        | Its device waits | Over                   | Then              |
/// |----------------------------------------------|------------------|------------------------|-------------------|
/// | an advertisement that may be answered        | no               | –, or the oldest of too many | it waits    |
/// | an advertisement that may be answered        | yes              | the event before       | it waits          |
/// | an advertisement that is not answered        | yes or no        | the event before; this one   |             |
/// | a scan response                              | yes              | the event              |                   |
/// | a scan response                              | no               | an event of its own    |                   |
/// | the deadline                                 |                  | all that waited for so long  |             |
///
/// A scan response follows its advertisement on the air within a millisecond (Core 5.4, Vol 6, Part B, 4.4.2.3), or
/// within some milliseconds on secondary channels, and takes a few more through the controller's queue and its
/// transport. Many an advertisement has none, as a scanner backs off where several scan (4.4.3.2). A later PDU is an
/// event of its own, so nothing is missed.
struct ScanEvents<Device: Equatable> {
  /// How long an advertisement waits for its scan response.
  static var timeout: Duration { .milliseconds(30) }
  /// How many may wait.
  static var limit: Int { 64 }

  private var waiting: Deque<(device: Device, deadline: Instant)> = []

  /// When `tick` has something to do.
  var deadline: Instant? { waiting.first?.deadline }

  /// An advertisement was received.
  /// - Returns: after its event is over: to be told before this advertisement is recorded.
  mutating func advertisement(of device: Device, mayBeAnswered: Bool, at now: Instant) -> Device? {
    var over = removeEvent(of: device)
    guard mayBeAnswered else { return over }
    if waiting.count == Self.limit { over = waiting.popFirst()?.device }
    waiting.append((device, now.advanced(by: Self.timeout)))
    return over
  }

  /// A scan response was received.
  /// - Returns: the event that it completes: to be told after it is recorded.
  mutating func scanResponse(of device: Device) -> Device { removeEvent(of: device) ?? device }

  /// The deadline has passed.
  /// - Returns: after their events are over, the oldest first.
  mutating func tick(at now: Instant) -> [Device] {
    var over: [Device] = []
    while let first = waiting.first, first.deadline <= now {
      over.append(first.device)
      waiting.removeFirst()
    }
    return over
  }

  /// No session scans any more.
  mutating func removeAll() { waiting.removeAll() }

  private mutating func removeEvent(of device: Device) -> Device? {
    guard let index = waiting.firstIndex(where: { $0.device == device }) else { return nil }
    return waiting.remove(at: index).device
  }
}
