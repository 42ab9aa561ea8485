import EventLoop

/// The reports of transmitted packets of a controller on the user channel, on a socket of their own: one comes for
/// almost every packet that is sent, shortly before the answer to it, and matters only when the controller has no room.
///
/// | State   | Input       | Then                                         |
/// |---------|-------------|----------------------------------------------|
/// | waiting | a report    | stays in the kernel, and wakes up nothing    |
/// | waiting | `take`      | returned, until there are `most`, or 128     |
/// | waiting | `isAwaited` | earlier ones are delivered, then each at once |
/// | any     | some lost   | `onLoss`                                     |
///
/// The kernel drops reports without room: none from an honest controller, which sends no more than it has packet
/// buffers.
final class CompletionReports {
  private static let batch = 4
  /// The longest event, about 63 links.
  private static let longest = 260
  /// Maximum batches read at once, enough for an honest controller: one that reports without end leaves time for other
  /// work.
  private static let burst = 32
  /// The kernel drops reports only when many wait: with fewer than these its counter is not read.
  private static let fewest = 8

  private let descriptor: Descriptor
  private let loop: EventLoop
  private let onPacket: ([UInt8]) -> Void
  private let onLoss: (Int) -> Void
  /// Reports dropped by the kernel.
  private var lost = 0
  private var buffer = [UInt8](repeating: 0, count: batch * longest)
  private var lengths = [UInt32](repeating: 0, count: batch)
  private var isWatched = false

  /// Takes ownership of the descriptor.
  /// - Parameters:
  ///   - onPacket: called on the event loop with each report that is awaited.
  ///   - onLoss: called with the number of reports that the kernel has dropped, from inside of `take` too.
  init(
    _ descriptor: Descriptor, on loop: EventLoop, _ onPacket: @escaping ([UInt8]) -> Void,
    onLoss: @escaping (Int) -> Void
  ) {
    self.descriptor = descriptor
    self.loop = loop
    self.onPacket = onPacket
    self.onLoss = onLoss
  }

  /// True if reports are delivered at once.
  var isAwaited = false {
    didSet {
      guard isAwaited != oldValue, descriptor.isOpen else { return }
      if isWatched { descriptor.interest = isAwaited ? .readable : [] } else if isAwaited { watch() }
    }
  }

  /// Takes the received reports, or the first of many. Not to be called from inside `body`.
  /// - Parameter most: the maximum, 1 or more. A few more may be taken; others stay for the next call.
  func take(_ most: Int, _ body: (ArraySlice<UInt8>) -> Void) {
    var taken = 0
    let batch = min(Self.batch, most)
    for _ in 0..<Self.burst where descriptor.isOpen && taken < most {
      // A removed controller has none; its channel reports that.
      guard let count = try? descriptor.read(into: &buffer, each: Self.longest, &lengths, most: batch) else { break }
      for place in 0..<count {
        let (start, length) = (place * Self.longest, Int(lengths[place]))
        guard length > 0 else { continue }
        taken += 1
        body(buffer[start..<start + length])
      }
      if count < batch { break }
    }
    if taken >= Self.fewest { tellLosses() }
  }

  private func tellLosses() {
    let dropped = descriptor.receiveLoad.dropped
    guard dropped > lost else { return }
    lost = dropped
    onLoss(dropped)
  }

  func close() { descriptor.close() }

  private func watch() {
    do throws(SystemError) {
      try descriptor.whenReady(on: loop, priority: .high) { [weak self] readiness in
        guard let self else { return }
        var packets: [[UInt8]] = []
        take(.max) { packets.append(Array($0)) }
        for packet in packets { onPacket(packet) }
        // The failure of a removed controller is permanent.
        if readiness.contains(.failed) { descriptor.unwatch() }
      }
      isWatched = true
    } catch {
      // Without memory now: with the next packet.
      isAwaited = false
    }
  }
}
