import CBlueZ
import Glibc
import NIOCore

/// A Bluetooth socket that carries packets both ways, one a read and one a write.
///
/// What cannot be written at once waits in order, at the most `limit` packets.
final class PacketSocket {
  enum Event {
    case received(ArraySlice<UInt8>)
    /// So many packets more had no room in the kernel, because they were not read in time.
    case lost(Int)
    /// Everything that waited has left.
    case writable
    /// Nothing comes any more; nil if the other end closed in order.
    case ended(SystemError?)
  }

  /// So many packets are read before others get their turn.
  private static let burst = 64
  private static let longest = 4096
  /// The kernel drops packets only when many wait: with fewer than these its counter is not looked at.
  private static let fewest = 8
  /// L2CAP's basic channels have no credits: what the kernel has no room for is lost. So nothing is held back beyond this load.
  private static let highestLoad = 0.5

  let descriptor: Descriptor
  private let eventLoop: NIOIsolatedEventLoop
  private let limit: Int
  private var waiting = CircularBuffer<[UInt8]>()
  private var buffer = [UInt8](repeating: 0, count: longest)
  private var error: SystemError?
  private var hasEnded = false
  private var lost = 0
  var onEvent: ((Event) -> Void)?

  /// Takes the descriptor over. Nothing is read before `start`.
  init(_ descriptor: Descriptor, eventLoop: NIOIsolatedEventLoop, limit: Int = 256) {
    self.descriptor = descriptor
    self.eventLoop = eventLoop
    self.limit = limit
  }

  /// Begins to read, with what has come already.
  func start() {
    descriptor.whenReady { [weak self] readiness in self?.ready(readiness) }
    ready([.readable, .writable])
  }

  /// While false, packets stay in the kernel as long as there is ample room.
  var isReading = true {
    didSet {
      guard isReading, !oldValue else { return }
      eventLoop.execute { [weak self] in self?.ready(.readable) }
    }
  }

  /// Whether the next packet would leave at once, as far as is known.
  var isWritable: Bool { waiting.isEmpty }

  /// Sends a packet, at once or when there is room.
  /// - Returns: false if too many wait already; the packet is dropped.
  func send(_ packet: [UInt8]) -> Bool {
    guard waiting.isEmpty, !hasEnded else {
      guard waiting.count < limit else { return false }
      wait(packet)
      return true
    }
    if !write(packet) { wait(packet) }
    return true
  }

  private func wait(_ packet: [UInt8]) {
    waiting.append(packet)
    descriptor.watchesForRoom = true
  }

  /// Reads all that has come, as the last thing before the end.
  func drain() { while readBurst() {} }

  func close() {
    onEvent = nil
    descriptor.close()
  }

  private func ready(_ readiness: Poller.Readiness) {
    if readiness.contains(.writable), !waiting.isEmpty { flush() }
    guard !readiness.isDisjoint(with: [.readable, .failed]) else { return }
    guard isReading || readiness.contains(.failed) || isCrowded else { return }
    if readBurst() { eventLoop.execute { [weak self] in self?.ready(readiness.subtracting(.writable)) } }
  }

  private var isCrowded: Bool { descriptor.receiveLoad.share > Self.highestLoad }

  private func flush() {
    while let next = waiting.first {
      guard write(next) else { return }
      _ = waiting.popFirst()
    }
    descriptor.watchesForRoom = false
    onEvent?(.writable)
  }

  /// - Returns: false if the packet has to wait.
  private func write(_ packet: [UInt8]) -> Bool {
    guard descriptor.isOpen else { return true }
    do { return try descriptor.write(packet) } catch {
      // While the link is being encrypted the kernel says ENOTCONN; it tells when that is over. After the end of the
      // link nothing can be sent; its end is told by reading.
      return error.code != ENOTCONN
    }
  }

  /// - Returns: whether more may be there.
  private func readBurst() -> Bool {
    for count in 0..<Self.burst {
      guard descriptor.isOpen, !hasEnded else { return false }
      do {
        guard let packet = try descriptor.read(&buffer) else {
          if count >= Self.fewest { tellLosses() }
          return error == nil ? false : end()
        }
        guard !packet.isEmpty else { return end() }
        onEvent?(.received(packet))
      } catch {
        // Packets that came before the error lie behind it; behind them is nothing.
        guard self.error == nil else { return end() }
        self.error = error
      }
    }
    tellLosses()
    return true
  }

  private func tellLosses() {
    let dropped = descriptor.receiveLoad.dropped
    guard dropped > lost else { return }
    onEvent?(.lost(dropped - lost))
    lost = dropped
  }

  private func end() -> Bool {
    hasEnded = true
    onEvent?(.ended(error))
    return false
  }
}
