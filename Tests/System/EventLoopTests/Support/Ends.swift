import EventLoop
import Glibc
import TestSupport

/// The two ends of a socket pair, closed with the object.
final class Ends {
  private(set) var left: Int32
  private(set) var right: Int32

  init(_ type: __socket_type = SOCK_STREAM) {
    var ends: [Int32] = [-1, -1]
    socketpair(AF_UNIX, Int32(type.rawValue) | Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0, &ends)
    (left, right) = (ends[0], ends[1])
  }

  deinit {
    closeLeft()
    closeRight()
  }

  func closeLeft() {
    if left >= 0 { close(left) }
    left = -1
  }

  func closeRight() {
    if right >= 0 { close(right) }
    right = -1
  }

  /// Gives the left end the lowest free number from this one on.
  func moveLeft(from lowest: Int32) {
    let moved = fcntl(left, F_DUPFD_CLOEXEC, lowest)
    closeLeft()
    left = moved
  }

  /// Sends this number of octets to the left end.
  func send(_ count: Int = 1) {
    let octets = [UInt8](repeating: 7, count: count)
    _ = write(right, octets, count)
  }

  /// Reads at the left end; -1 without data.
  func receive(upTo count: Int = 4096) -> Int {
    var octets = [UInt8](repeating: 0, count: count)
    return read(left, &octets, count)
  }
}

extension EventLoop {
  /// Serves pending events until there are none.
  func settle() throws { while try poll() {} }

  /// Runs until `condition` holds after some event.
  /// - Returns: true if it held.
  func run(until condition: @escaping () -> Bool) throws -> Bool {
    try Patience.wait {
      while try !condition() && poll() {}
      return condition()
    }
  }
}
