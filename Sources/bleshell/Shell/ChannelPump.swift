import Dispatch
import Glibc
import Synchronization

/// Copies octets from a file to a channel and from the channel to another file, each on a thread of its own: files can
/// block, and may take their time.
final class ChannelPump: Sendable {
  private let descriptor: Int32
  private let input: Int32
  private let output: Int32
  private let most: Int?
  private let counts = Mutex((sent: 0, received: 0))

  /// - Parameter most: after how many received octets it is over.
  init(_ descriptor: Int32, input: Int32, output: Int32, most: Int?) {
    self.descriptor = descriptor
    self.input = input
    self.output = output
    self.most = most
  }

  /// How many octets went to the channel.
  var sent: Int { counts.withLock { $0.sent } }
  /// How many octets came from it.
  var received: Int { counts.withLock { $0.received } }

  /// Copies until the channel ends, or all that was wanted came.
  /// - Returns: whether as many octets came as were wanted.
  func run() async -> Bool {
    async let copied: Void = withCheckedContinuation { continuation in
      DispatchQueue(label: "bleshell.input").async {
        self.copyInput()
        continuation.resume()
      }
    }
    let isWhole = await withCheckedContinuation { continuation in
      DispatchQueue(label: "bleshell.output").async { continuation.resume(returning: self.copyOutput()) }
    }
    // The rest of the input is for others: for the next command.
    end()
    await copied
    return isWhole
  }

  /// Makes `run` return.
  func end() { shutdown(descriptor, Int32(SHUT_RDWR)) }

  private func copyInput() {
    var octets = [UInt8](repeating: 0, count: 65_536)
    while hasInput() {
      let count = read(input, &octets, octets.count)
      guard count > 0 else { break }
      var rest = octets[..<count]
      while !rest.isEmpty {
        let written = rest.withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
        guard written > 0 else { return }
        rest = rest.dropFirst(written)
        counts.withLock { $0.sent += written }
      }
    }
    shutdown(descriptor, Int32(SHUT_WR))
  }

  /// Waits until there is something to be read, or its end.
  /// - Returns: false if the channel has ended.
  private func hasInput() -> Bool {
    var states = [pollfd(fd: input, events: Int16(POLLIN), revents: 0), pollfd(fd: descriptor, events: 0, revents: 0)]
    while poll(&states, 2, -1) < 0, errno == EINTR {}
    return states[1].revents == 0
  }

  private func copyOutput() -> Bool {
    var octets = [UInt8](repeating: 0, count: 65_536)
    while true {
      let wanted = min(octets.count, (most ?? .max) - received)
      if wanted == 0 { return true }
      let count = recv(descriptor, &octets, wanted, 0)
      guard count > 0 else { return false }
      var rest = octets[..<count]
      while !rest.isEmpty {
        let written = rest.withUnsafeBytes { write(output, $0.baseAddress, $0.count) }
        guard written > 0 else { return false }
        rest = rest.dropFirst(written)
      }
      counts.withLock { $0.received += count }
    }
  }
}
