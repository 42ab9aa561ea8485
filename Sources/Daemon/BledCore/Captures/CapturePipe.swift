import Bluetooth
import Capture
import EventLoop
import Glibc

/// The writing end of a pipe. Pieces are written as a whole or not at all: they are short enough for that (pipe(7),
/// PIPE_BUF). SIGPIPE must be ignored.
final class CapturePipe {
  /// Maximum octets queued in the kernel, if it permits such a large pipe.
  private static let room: Int32 = 1 << 20
  /// F_SETPIPE_SZ of fcntl(2), which Glibc declares with its extensions only.
  private static let setSize: Int32 = 1031

  private let descriptor: Int32
  /// Capacity in octets.
  private let size: Int32
  private var watch: Watch?

  /// Makes a pipe.
  /// - Parameter onGone: called when the last reader has closed its end.
  /// - Returns: our end of it, and the program's.
  /// - Throws: `BledError.limitReached`.
  static func make(
    on loop: EventLoop, onGone: @escaping () -> Void
  ) throws(BluetoothError) -> (pipe: CapturePipe, passed: PassedDescriptor) {
    var ends: [Int32] = [-1, -1]
    guard Glibc.pipe(&ends) == 0 else { throw lacking }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    _ = fcntl(ends[1], F_SETFL, O_NONBLOCK)
    // If it may not be larger, it keeps its size.
    let size = fcntl(ends[1], setSize, room)
    let passed = PassedDescriptor(ends[0])
    return (try CapturePipe(ends[1], size: size > 0 ? size : 1 << 16, on: loop, onGone), passed)
  }

  private init(
    _ descriptor: Int32, size: Int32, on loop: EventLoop, _ onGone: @escaping () -> Void
  ) throws(BluetoothError) {
    self.descriptor = descriptor
    self.size = size
    do throws(EventLoopError) {
      watch = try Watch(descriptor, on: loop, interest: []) { _ in onGone() }
    } catch {
      Glibc.close(descriptor)
      throw Self.lacking
    }
  }

  deinit { close() }

  /// True if at least half of the pipe is free.
  var hasAmpleRoom: Bool {
    var waiting: Int32 = 0
    return ioctl(descriptor, UInt(FIONREAD), &waiting) == 0 && waiting <= size / 2
  }

  /// Writes a piece.
  /// - Returns: false if there is no room for it.
  func write(_ piece: [UInt8]) -> Bool {
    guard watch != nil else { return false }
    let count = piece.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
    return count == piece.count
  }

  /// Closes it. Earlier octets can still be read.
  func close() {
    guard let watch else { return }
    watch.cancel()
    self.watch = nil
    Glibc.close(descriptor)
  }

  private static var lacking: BluetoothError {
    BledError.limitReached.error("bled has no descriptor left for a recording: close some channels or programs")
  }
}
