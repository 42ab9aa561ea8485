import Dispatch
import Glibc
import Synchronization

/// Copies octets from a file to a channel and from the channel to another file, each on a thread of its own: files can
/// block for a long time.
final class ChannelPump: Sendable {
  private let sending: Int32
  private let receiving: Int32
  private let input: Int32
  private let output: Int32
  private let most: Int?
  private let longest: Int
  private let lineEnd: [UInt8]?
  /// True if the other side is notified of the input's end.
  private let isStream: Bool
  /// True if octets without room in the output are dropped.
  private let dropsUnread: Bool
  /// True if it ends with the input, after a while without sending or receiving.
  private let endsWithInput: Bool
  /// The length of that while, in milliseconds.
  private static let quiet: Int32 = 1000
  private let counts = Mutex((sent: 0, received: 0))
  private let hasEndedInput = Mutex(false)

  /// - Parameters:
  ///   - descriptor: The channel, a stream.
  ///   - most: the number of received octets after which it ends.
  init(_ descriptor: Int32, input: Int32, output: Int32, most: Int?) {
    (sending, receiving, self.input, self.output) = (descriptor, descriptor, input, output)
    (self.most, longest, lineEnd, isStream, dropsUnread, endsWithInput) = (most, 65_536, nil, true, false, false)
  }

  /// - Parameters:
  ///   - sending: The socket for packets to the device.
  ///   - receiving: The socket for packets from it, possibly the same one. Both stay open at the end of the input.
  ///   - longest: The longest packet that can be sent.
  ///   - lineEnd: The octets to send for the line feeds of the input; nil: they are sent unchanged.
  ///   - dropsUnread: True if octets without room in the non-blocking output are dropped: a terminal that no program
  ///     has open.
  ///   - endsWithInput: True if it ends when the input has ended, all was sent, and nothing is received for a second.
  ///   - most: As above.
  init(
    sending: Int32, receiving: Int32, longest: Int, lineEnd: [UInt8]?, input: Int32, output: Int32,
    dropsUnread: Bool, endsWithInput: Bool = false, most: Int?
  ) {
    (self.dropsUnread, self.endsWithInput) = (dropsUnread, endsWithInput)
    (self.sending, self.receiving, self.input, self.output) = (sending, receiving, input, output)
    (self.most, self.longest, self.lineEnd, isStream) = (most, max(1, longest), lineEnd, false)
  }

  /// The number of octets sent to the channel.
  var sent: Int { counts.withLock { $0.sent } }
  /// The number of octets received from it.
  var received: Int { counts.withLock { $0.received } }

  /// Copies until the channel ends, or all wanted octets were received.
  /// - Returns: true if as many octets were received as wanted.
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
    // The rest of the input is for the next command.
    end()
    await copied
    return isWhole
  }

  /// Makes `run` return.
  func end() { for descriptor in [sending, receiving] { shutdown(descriptor, Int32(SHUT_RDWR)) } }

  private func copyInput() {
    var octets = [UInt8](repeating: 0, count: 65_536)
    while hasInput() {
      let count = read(input, &octets, octets.count)
      guard count > 0 else { break }
      var rest = ended(octets[..<count])
      while !rest.isEmpty {
        let packet = rest.prefix(longest)
        let written = packet.withUnsafeBytes { send(sending, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
        guard written > 0 else { return }
        rest = rest.dropFirst(written)
        counts.withLock { $0.sent += written }
      }
    }
    if isStream { shutdown(sending, Int32(SHUT_WR)) }
    hasEndedInput.withLock { $0 = true }
  }

  /// Waits until there is something to receive.
  /// - Returns: false if the input has ended, all of it was sent, and nothing was received for a while.
  private func hasMore() -> Bool {
    guard endsWithInput else { return true }
    while true {
      var state = pollfd(fd: receiving, events: Int16(POLLIN), revents: 0)
      let isOver = hasEndedInput.withLock { $0 }
      let before = sent
      let ready = poll(&state, 1, Self.quiet)
      // A signal ends the wait early.
      if ready < 0, errno == EINTR { continue }
      if ready != 0 { return true }
      var unsent: Int32 = 0
      guard isOver, before == sent, ioctl(sending, UInt(TIOCOUTQ), &unsent) == 0, unsent == 0 else { continue }
      return false
    }
  }

  /// Octets of the input with the ends of lines that the device expects.
  private func ended(_ octets: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    guard let lineEnd else { return octets }
    return octets.reduce(into: []) { if $1 == UInt8(ascii: "\n") { $0 += lineEnd } else { $0.append($1) } }
  }

  /// Waits until there is something to read, or its end.
  /// - Returns: false if the channel has ended.
  private func hasInput() -> Bool {
    var states = [pollfd(fd: input, events: Int16(POLLIN), revents: 0), pollfd(fd: sending, events: 0, revents: 0)]
    while poll(&states, 2, -1) < 0, errno == EINTR {}
    return states[1].revents == 0
  }

  private func copyOutput() -> Bool {
    var octets = [UInt8](repeating: 0, count: 65_536)
    while true {
      let wanted = min(octets.count, (most ?? .max) - received)
      if wanted == 0 || !hasMore() { return true }
      let count = recv(receiving, &octets, wanted, 0)
      guard count > 0 else { return false }
      var rest = octets[..<count]
      while !rest.isEmpty {
        let written = rest.withUnsafeBytes { write(output, $0.baseAddress, $0.count) }
        if written < 0, dropsUnread, errno == EAGAIN { break }
        guard written > 0 else { return false }
        rest = rest.dropFirst(written)
      }
      counts.withLock { $0.received += count }
    }
  }
}
