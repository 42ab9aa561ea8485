import CBlueZ
import EventLoop
import Glibc

/// An errno as an error.
package struct SystemError: Error, Hashable {
  package let code: Int32

  /// The error that a CBlueZ function returned as a negative number.
  package init(result: Int32) { code = -result }

  /// The result, if it is not negative.
  static func check(_ result: Int32) throws(SystemError) -> Int32 {
    guard result >= 0 else { throw SystemError(result: result) }
    return result
  }
}

/// An open descriptor that the event loop watches; closed once.
final class Descriptor {
  let number: Int32
  private var watch: Watch?
  private(set) var isOpen = true
  private let closing: (Int32) -> Void

  /// Takes ownership of the descriptor. Nothing is reported before `whenReady`.
  /// - Parameter closing: closes the descriptor, for instance on a thread where that may block.
  init(_ number: Int32, closing: @escaping (Int32) -> Void = { _ = cbz_close($0) }) {
    self.number = number
    self.closing = closing
  }

  deinit { close() }

  /// Starts watching: the loop reports readiness and the end from now on.
  func whenReady(
    on loop: EventLoop, interest: Watch.Readiness = .readable, priority: EventLoop.Priority,
    _ ready: @escaping (Watch.Readiness) -> Void
  ) throws(SystemError) {
    do { watch = try Watch(number, on: loop, interest: interest, priority: priority, ready) } catch {
      throw SystemError(result: -error.code)
    }
  }

  /// Stops watching.
  func unwatch() {
    watch?.cancel()
    watch = nil
  }

  /// The states to report besides the end.
  var interest: Watch.Readiness {
    get { watch?.interest ?? [] }
    set { watch?.interest = newValue }
  }

  /// Reads one packet.
  /// - Returns: its length; nil when there is none for now.
  func read(into buffer: inout [UInt8]) throws(SystemError) -> Int? {
    let result = buffer.withUnsafeMutableBufferPointer { cbz_read(number, $0.baseAddress, $0.count) }
    if result == -EAGAIN || result == -EINTR { return nil }
    return Int(try SystemError.check(result))
  }

  /// Reads packets, each of `length` octets at the most and to its own place in the buffer.
  /// - Parameter most: the maximum number, 1 to the count of `lengths`. A single one takes less time.
  /// - Returns: their number; 0 if none waits.
  func read(
    into buffer: inout [UInt8], each length: Int, _ lengths: inout [UInt32], most: Int
  ) throws(SystemError) -> Int {
    let result = buffer.withUnsafeMutableBufferPointer { buffer in
      lengths.withUnsafeMutableBufferPointer { lengths in
        most == 1
          ? cbz_read(number, buffer.baseAddress, length)
          : cbz_read_packets(number, buffer.baseAddress, length, lengths.baseAddress, UInt32(most))
      }
    }
    if result == -EAGAIN || result == -EINTR { return 0 }
    let count = Int(try SystemError.check(result))
    guard most == 1 else { return count }
    lengths[0] = UInt32(count)
    return 1
  }

  /// True if the next packet waits and has octets; it is not read.
  func hasPacket() throws(SystemError) -> Bool {
    let result = cbz_peek(number)
    if result == -EAGAIN || result == -EINTR { return false }
    return try SystemError.check(result) > 0
  }

  /// Makes the kernel timestamp arriving packets.
  func stampPackets() { _ = cbz_stamp_packets(number) }

  /// Reads packets as above, with their arrival times in microseconds since the epoch; 0 if the kernel does not report
  /// one.
  func read(
    into buffer: inout [UInt8], each length: Int, _ lengths: inout [UInt32], stamps: inout [Int64], most: Int
  ) throws(SystemError) -> Int {
    let result = buffer.withUnsafeMutableBufferPointer { buffer in
      lengths.withUnsafeMutableBufferPointer { lengths in
        stamps.withUnsafeMutableBufferPointer { stamps in
          cbz_read_packets_stamped(
            number, buffer.baseAddress, length, lengths.baseAddress, stamps.baseAddress, UInt32(most))
        }
      }
    }
    if result == -EAGAIN || result == -EINTR { return 0 }
    return Int(try SystemError.check(result))
  }

  /// Writes one packet.
  /// - Returns: false when there is no room for now.
  func write(_ packet: [UInt8]) throws(SystemError) -> Bool {
    let result = packet.withUnsafeBufferPointer { cbz_write(number, $0.baseAddress, $0.count) }
    if result == -EAGAIN || result == -EINTR { return false }
    _ = try SystemError.check(result)
    return true
  }

  /// True if the other end is closed or has failed: nothing follows the waiting packets.
  var hasEnded: Bool { cbz_has_ended(number) != 0 }

  /// The fill level of the kernel's receive buffer, 0 to 1, and the number of packets dropped for lack of room.
  var receiveLoad: (share: Double, dropped: Int) {
    var percent: UInt32 = 0
    var dropped: UInt32 = 0
    guard isOpen, cbz_receive_load(number, &percent, &dropped) == 0 else { return (1, 0) }
    return (Double(percent) / 100, Int(dropped))
  }

  func close() {
    guard isOpen else { return }
    isOpen = false
    unwatch()
    closing(number)
  }
}
