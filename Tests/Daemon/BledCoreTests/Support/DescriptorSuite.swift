import EventLoop
import Glibc

/// A suite with descriptors that the daemon passes.
protocol DescriptorSuite {
  var world: World { get }
  var loop: EventLoop { get }
}

extension DescriptorSuite {
  /// Advances some seconds, and handles the contents of the sockets.
  func settle() throws {
    for _ in 0..<3 {
      world.settle()
      while try loop.poll() {}
    }
  }

  /// Writes a packet, if there is room.
  func write(_ descriptor: Int32, _ value: [UInt8]) -> Int {
    value.withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL)) }
  }

  /// The waiting packets; nil at the end.
  func read(_ descriptor: Int32) -> [[UInt8]?] {
    var packets: [[UInt8]?] = []
    var buffer = [UInt8](repeating: 0, count: 600)
    while true {
      let count = recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT))
      if count < 0 { return packets }
      if count == 0 { return packets + [nil] }
      packets.append(Array(buffer[..<count]))
    }
  }
}
