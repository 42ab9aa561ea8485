import Dispatch
import Foundation

/// The socket with a channel's octets, shared by both streams. It is closed with its last reference; if both directions
/// are shut down before, the other end closes the channel.
package final class DispatchSocket: Sendable {
  /// The direction of octets.
  package enum Direction: Sendable {
    case input, output
  }

  package let number: Int32

  /// A duplicate descriptor for the source that waits for room: two sources on one number share its registration with
  /// epoll(7), and a resumed one then misses earlier readiness.
  private let outputNumber: Int32

  /// Takes ownership of a stream socket; -1 means already ended.
  package init(_ number: Int32) {
    self.number = number
    outputNumber = fcntl(number, F_DUPFD_CLOEXEC, 0)
  }

  deinit {
    if number >= 0 { close(number) }
    if outputNumber >= 0 { close(outputNumber) }
  }

  /// A source that fires while octets, or room for some, are available. It must not outlive this.
  func makeSource(_ direction: Direction, on queue: DispatchQueue) -> any DispatchSourceProtocol {
    switch direction {
    case .input: DispatchSource.makeReadSource(fileDescriptor: number, queue: queue)
    // Without its own number, if the process is out of descriptors, it is late rather than absent.
    case .output:
      DispatchSource.makeWriteSource(fileDescriptor: outputNumber >= 0 ? outputNumber : number, queue: queue)
    }
  }

  /// Checks for octets, or for room. Does not wait.
  func look(_ direction: Direction) -> StreamMachine.Finding {
    switch direction {
    case .input:
      var octet: UInt8 = 0
      return finding(recv(number, &octet, 1, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT)))
    case .output:
      let found = wait(.output, for: 0)
      if found & Int32(POLLHUP | POLLERR | POLLNVAL) != 0 { return .end }
      return found & Int32(POLLOUT) != 0 ? .ready(0) : .nothing
    }
  }

  /// Reads the available octets; waits for some.
  func read(_ buffer: UnsafeMutablePointer<UInt8>, _ length: Int) -> StreamMachine.Finding {
    while true {
      let found = finding(recv(number, buffer, length, Int32(MSG_DONTWAIT)))
      guard case .nothing = found else { return found }
      _ = wait(.input, for: -1)
    }
  }

  /// Writes as much as there is room for; waits if there is none.
  func write(_ buffer: UnsafePointer<UInt8>, _ length: Int) -> StreamMachine.Finding {
    while true {
      let count = send(number, buffer, length, Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL))
      if count >= 0 { return .ready(count) }
      guard errno == EAGAIN || errno == EINTR else { return .failed(errno) }
      // The end of this direction alone does not wake poll(2); send(2) fails after it.
      _ = wait(.output, for: 200)
    }
  }

  /// Ends one direction. A caller waiting in `read` or `write` returns.
  func end(_ direction: Direction) {
    shutdown(number, Int32(direction == .input ? SHUT_RD : SHUT_WR))
  }

  private func finding(_ count: Int) -> StreamMachine.Finding {
    if count > 0 { return .ready(count) }
    if count == 0 { return .end }
    return errno == EAGAIN || errno == EINTR ? .nothing : .failed(errno)
  }

  private func wait(_ direction: Direction, for milliseconds: Int32) -> Int32 {
    var state = pollfd(fd: number, events: Int16(direction == .input ? POLLIN : POLLOUT), revents: 0)
    return poll(&state, 1, milliseconds) > 0 ? Int32(state.revents) : 0
  }
}
