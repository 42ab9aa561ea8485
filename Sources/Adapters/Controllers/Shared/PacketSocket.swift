import CBlueZ
import DequeModule
import EventLoop
import Glibc

/// A Bluetooth socket that carries packets both ways, one per write and one or several per read.
///
/// Packets that cannot be written at once wait in order, at most `limit`. A packet that cannot be written at all ends
/// the socket: otherwise the other end would miss one without knowing.
final class PacketSocket {
  enum Event {
    case received([UInt8])
    /// The kernel dropped this many more packets, because they were not read in time.
    case lost(Int)
    /// All waiting packets have left.
    case writable
    /// End of stream; nil after an orderly close.
    case ended(SystemError?)
  }

  /// This many packets are read before other sources get their turn.
  private static let burst = 64
  /// The kernel drops packets only when many wait: with fewer than these its counter is not read.
  private static let fewest = 8
  /// L2CAP's basic channels have no credits: packets without room in the kernel are lost. So nothing is held back
  /// beyond this load.
  private static let highestLoad = 0.5

  let descriptor: Descriptor
  private let loop: EventLoop
  private let priority: EventLoop.Priority
  private let limit: Int
  private var waiting: Deque<[UInt8]> = []
  private let longest: Int
  /// The room for the packets of one read, and their lengths.
  private var buffer: [UInt8]
  private var lengths: [UInt32]
  /// Their arrival times; empty if unused.
  private var stamps: [Int64]
  /// The arrival time in this machine of the packet being delivered, in microseconds since the epoch; 0 if the kernel
  /// does not report it.
  private(set) var stamp: Int64 = 0
  private var error: SystemError?
  private var hasEnded = false
  private var lost = 0
  /// The round of the loop in which packets were last read.
  private var round: UInt64 = 0
  /// True once the other end is closed: its earlier packets are read even while reading is paused.
  private var isEnding = false
  var onEvent: ((Event) -> Void)?

  /// Takes ownership of the descriptor. Nothing is read before `start`.
  /// - Parameters:
  ///   - longest: the longest packet to receive, in octets.
  ///   - batch: maximum packets of one read, 1 to 64. With 1 all received packets are delivered before those of
  ///     lower-priority sockets. With more, a packet is read alone unless one was read in the loop's last round:
  ///     usually none follows it, and checking for more takes time.
  ///   - isStamped: true if the kernel is to timestamp arriving packets.
  init(
    _ descriptor: Descriptor, on loop: EventLoop, priority: EventLoop.Priority, longest: Int = 4096, batch: Int = 1,
    limit: Int = 256, isStamped: Bool = false
  ) {
    self.longest = longest
    buffer = [UInt8](repeating: 0, count: longest * batch)
    lengths = [UInt32](repeating: 0, count: batch)
    stamps = [Int64](repeating: 0, count: isStamped ? batch : 0)
    if isStamped { descriptor.stampPackets() }
    self.descriptor = descriptor
    self.loop = loop
    self.priority = priority
    self.limit = limit
  }

  /// Starts reading, beginning with packets that have already arrived.
  /// - Throws: `SystemError` if there is no memory to watch the socket with.
  func start() throws(SystemError) {
    try descriptor.whenReady(on: loop, priority: priority) { [unowned self] readiness in ready(readiness) }
    updateInterest()
  }

  /// While false, packets stay in the kernel as long as it has ample room.
  var isReading = true {
    didSet { if isReading != oldValue { updateInterest() } }
  }

  /// True if the next packet would leave at once, as far as known.
  var isWritable: Bool { waiting.isEmpty }

  /// Sends a packet, at once or when there is room.
  /// - Returns: false if too many wait already; the packet is dropped.
  func send(_ packet: [UInt8]) -> Bool {
    guard waiting.isEmpty, !hasEnded else {
      guard waiting.count < limit else { return false }
      waiting.append(packet)
      return true
    }
    if !write(packet) {
      waiting.append(packet)
      updateInterest()
    }
    return true
  }

  /// Reads all that has arrived, as the last step before the end.
  func drain() { while readBurst(Self.burst) {} }

  func close() {
    onEvent = nil
    descriptor.close()
  }

  private func updateInterest() {
    var interest: Watch.Readiness = isReading || isEnding ? .readable : .news
    // Only while something waits: otherwise each packet leaving the kernel would wake the loop.
    if !waiting.isEmpty { interest.insert(.writable) }
    descriptor.interest = interest
  }

  private func ready(_ readiness: Watch.Readiness) {
    if readiness.contains(.failed), !isEnding {
      isEnding = true
      updateInterest()
    }
    if readiness.contains(.writable), !waiting.isEmpty { flush() }
    guard !readiness.isDisjoint(with: [.readable, .failed]) else { return }
    guard isReading || isEnding || descriptor.receiveLoad.share > Self.highestLoad else { return }
    // While reading is paused a packet is signalled only once: one left behind would wait for the next.
    let isAlone = lengths.count > 1 && isReading && !isEnding && error == nil && loop.round != round &+ 1
    round = loop.round
    _ = readBurst(isAlone ? 1 : Self.burst)
  }

  private func flush() {
    while let next = waiting.first {
      guard write(next) else { return }
      waiting.removeFirst()
    }
    updateInterest()
    onEvent?(.writable)
  }

  /// - Returns: false if the packet has to wait.
  private func write(_ packet: [UInt8]) -> Bool {
    guard descriptor.isOpen, error == nil else { return true }
    do { return try descriptor.write(packet) } catch {
      // While the link is being encrypted the kernel returns ENOTCONN, and signals when that is over. It does so after
      // the end of the link, too; reading reports that.
      guard error.code != ENOTCONN else { return false }
      self.error = error
      // Not from inside the sending call.
      loop.execute { [weak self] in self?.finish() }
      return true
    }
  }

  /// Ends with the error of a write, after earlier packets.
  private func finish() {
    drain()
    guard descriptor.isOpen, !hasEnded else { return }
    _ = end()
  }

  /// - Parameter most: the number of packets to stop after; the last read may exceed it.
  /// - Returns: true if more may wait.
  private func readBurst(_ most: Int) -> Bool {
    var count = 0
    while count < most {
      guard descriptor.isOpen, !hasEnded else { return false }
      do throws(SystemError) {
        let wanted = min(lengths.count, most)
        let read = try read(wanted)
        for place in 0..<read {
          guard descriptor.isOpen, !hasEnded else { return false }
          // An empty packet, which devices can send, reads like the end of the socket. Packets may wait behind it,
          // though the other end is closed.
          if lengths[place..<read].allSatisfy({ $0 == 0 }), descriptor.hasEnded, try !descriptor.hasPacket() {
            return end()
          }
          if !stamps.isEmpty { stamp = stamps[place] }
          onEvent?(.received(Array(buffer[(place * longest)...].prefix(Int(lengths[place])))))
        }
        count += read
        // A read that took fewer than it could leaves nothing behind.
        guard read == 0 || (read < wanted && error == nil) else { continue }
        if count >= Self.fewest { reportLosses() }
        return error == nil ? false : end()
      } catch {
        // Packets that arrived before the error are read after it; nothing follows them.
        guard self.error == nil else { return end() }
        self.error = error
        count += 1
      }
    }
    if count >= Self.fewest { reportLosses() }
    return true
  }

  /// - Returns: the number of packets read.
  private func read(_ most: Int) throws(SystemError) -> Int {
    guard stamps.isEmpty else {
      return try descriptor.read(into: &buffer, each: longest, &lengths, stamps: &stamps, most: most)
    }
    return try descriptor.read(into: &buffer, each: longest, &lengths, most: most)
  }

  private func reportLosses() {
    let dropped = descriptor.receiveLoad.dropped
    guard dropped > lost else { return }
    onEvent?(.lost(dropped - lost))
    lost = dropped
  }

  private func end() -> Bool {
    hasEnded = true
    // A socket that has ended is always ready.
    descriptor.unwatch()
    onEvent?(.ended(error))
    return false
  }
}
