import Bluetooth
import CBlueZ
import EventLoop
import HCI

/// Number Of Completed Packets of one controller (Core 5.4, Vol 4, Part E, 7.7.19). There is an event for almost every
/// packet of the controller, ten for a long value where its buffers are small, and only the end of a link waits for
/// them: so they wake no other code, and are read many at a time.
///
/// | Input                                             | Effect                      |
/// |---------------------------------------------------|-----------------------------|
/// | a packet is sent, the 64th or the first for a while | the completions are read  |
/// | `read`                                            | the same                    |
/// | `isAwaited`                                       | completions are read at once |
final class CompletionSocket {
  /// Packets between two reads of the socket: their completions fit into it, also in fragments of 27 octets.
  private static let interval = 64
  /// The kernel's own packets are completed, too, and must not be mistaken for ours sent after them. A short pause
  /// makes that rare: most are completed in an earlier connection event, at least 7.5 ms before.
  private static let pause = Duration.microseconds(7500)
  private static let batch = 64
  /// The longest event, about 63 links.
  private static let longest = 260

  /// Called for each link that sent, with the number of packets.
  var onCompleted: ((ConnectionHandle, Int) -> Void)?
  private let descriptor: Descriptor
  private let loop: EventLoop
  private var buffer = [UInt8](repeating: 0, count: batch * longest)
  private var lengths = [UInt32](repeating: 0, count: batch)
  /// The packets sent since the last read, and its time.
  private var sent = 0
  private var lastRead: Instant?

  /// Takes ownership of the descriptor.
  init(_ descriptor: Descriptor, on loop: EventLoop) {
    self.descriptor = descriptor
    self.loop = loop
  }

  /// True while completions are awaited.
  var isAwaited = false {
    didSet {
      guard isAwaited != oldValue, descriptor.isOpen else { return }
      descriptor.unwatch()
      guard isAwaited else { return }
      // Without memory for it a link ends at its deadline.
      try? descriptor.whenReady(on: loop, priority: .highest) { [unowned self] readiness in
        read()
        if readiness.contains(.failed) { descriptor.unwatch() }
      }
    }
  }

  /// A packet is about to be sent.
  func packetSent(at now: Instant) {
    sent += 1
    if let lastRead, sent < Self.interval, lastRead.duration(to: now) < Self.pause { return }
    lastRead = now
    read()
  }

  /// Reads the completions received.
  func read() {
    sent = 0
    while descriptor.isOpen {
      let count = cbz_read_packets(descriptor.number, &buffer, Self.longest, &lengths, UInt32(Self.batch))
      guard count > 0 else { return }
      for index in 0..<Int(count) {
        // The controller was removed: its socket reports that continuously.
        guard lengths[index] > 0 else { return descriptor.unwatch() }
        let start = index * Self.longest
        report(buffer[start..<start + min(Int(lengths[index]), Self.longest)])
      }
      if count < Self.batch { return }
    }
  }

  func close() {
    onCompleted = nil
    descriptor.close()
  }

  private func report(_ octets: ArraySlice<UInt8>) {
    guard let completed = try? CompletedPackets(packet: octets) else { return }
    for place in 0..<completed.count { onCompleted?(completed[place].handle, completed[place].packets) }
  }
}
