import CBlueZ
import Glibc

/// An errno as an error.
struct SystemError: Error, Hashable {
  let code: Int32

  /// The error that a function of CBlueZ gave as a negative number.
  init(result: Int32) { code = -result }

  /// The result, if it is none of the negative ones.
  static func check(_ result: Int32) throws(SystemError) -> Int32 {
    guard result >= 0 else { throw SystemError(result: result) }
    return result
  }
}

/// An open Bluetooth socket with its place at the poller; closed once.
final class Descriptor {
  let number: Int32
  private let poller: Poller
  private var token: Poller.Token?
  private(set) var isOpen = true

  /// Takes the socket over.
  /// - Parameter ready: called on the event loop when something came, there is room again, or the socket has an error.
  init(_ number: Int32, poller: Poller, ready: @escaping (Poller.Readiness) -> Void) throws(SystemError) {
    self.number = number
    self.poller = poller
    do {
      token = try poller.add(number, ready)
    } catch {
      _ = cbz_close(number)
      throw error
    }
  }

  /// Other work when it is ready, from now on.
  func whenReady(_ ready: @escaping (Poller.Readiness) -> Void) {
    if let token { poller.replace(token, ready) }
  }

  /// Whether it says when there is room for writing.
  var watchesForRoom = false {
    didSet {
      guard let token, watchesForRoom != oldValue else { return }
      // What could fail is memory; it is asked again with the next packet that has to wait.
      do { try poller.watch(token, number, forRoom: watchesForRoom) } catch { watchesForRoom = oldValue }
    }
  }

  /// Reads one packet.
  /// - Returns: nil when there is none for now.
  func read(_ buffer: inout [UInt8]) throws(SystemError) -> ArraySlice<UInt8>? {
    let result = buffer.withUnsafeMutableBufferPointer { cbz_read(number, $0.baseAddress, $0.count) }
    if result == -EAGAIN || result == -EINTR { return nil }
    return buffer[0..<Int(try SystemError.check(result))]
  }

  /// Writes one packet.
  /// - Returns: false when there is no room for now.
  func write(_ packet: [UInt8]) throws(SystemError) -> Bool {
    let result = packet.withUnsafeBufferPointer { cbz_write(number, $0.baseAddress, $0.count) }
    if result == -EAGAIN || result == -EINTR { return false }
    _ = try SystemError.check(result)
    return true
  }

  /// How much of the kernel's room for packets that wait to be read is taken, 0 to 1, and how many it dropped for want of room.
  var receiveLoad: (share: Double, dropped: Int) {
    var percent: UInt32 = 0
    var dropped: UInt32 = 0
    guard isOpen, cbz_receive_load(number, &percent, &dropped) == 0 else { return (1, 0) }
    return (Double(percent) / 100, Int(dropped))
  }

  func close() {
    guard isOpen else { return }
    isOpen = false
    if let token { poller.remove(token, number) }
    token = nil
    _ = cbz_close(number)
  }
}
