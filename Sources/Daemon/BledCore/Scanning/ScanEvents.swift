import Bluetooth
import DequeModule

/// Pairs the advertisements and scan responses of an active scan, so each advertising event is reported once.
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
/// transport. Many advertisements have none, as scanners back off when several are active (4.4.3.2). A later PDU is its
/// own event, so nothing is missed.
struct ScanEvents<Device: Equatable> {
  /// Maximum wait of an advertisement for its scan response.
  static var timeout: Duration { .milliseconds(30) }
  /// Maximum waiting advertisements.
  static var limit: Int { 64 }

  private var waiting: Deque<(device: Device, deadline: Instant)> = []

  /// When `tick` has something to do.
  var deadline: Instant? { waiting.first?.deadline }

  /// An advertisement was received.
  /// - Returns: a device whose event is over, to be reported before this advertisement is recorded.
  mutating func advertisement(of device: Device, mayBeAnswered: Bool, at now: Instant) -> Device? {
    var over = removeEvent(of: device)
    guard mayBeAnswered else { return over }
    if waiting.count == Self.limit { over = waiting.popFirst()?.device }
    waiting.append((device, now.advanced(by: Self.timeout)))
    return over
  }

  /// A scan response was received.
  /// - Returns: the device whose event is complete, to be reported after the response is recorded.
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

  /// No session scans any longer.
  mutating func removeAll() { waiting.removeAll() }

  private mutating func removeEvent(of device: Device) -> Device? {
    guard let index = waiting.firstIndex(where: { $0.device == device }) else { return nil }
    return waiting.remove(at: index).device
  }
}
