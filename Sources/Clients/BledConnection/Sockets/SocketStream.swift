/// A stream socket with its queued octets. It belongs to the thread or the queue of its waiter.
///
/// | State     | Input                                | Effect                                                  |
/// |-----------|--------------------------------------|---------------------------------------------------------|
/// | idle      | start                                | → open                                                  |
/// | idle      | send                                 | written; the rest waits for room                        |
/// | idle      | a write failed                       | the unsent octets are dropped: reading reports it       |
/// | open      | send                                 | written; the rest waits for room                        |
/// | open      | octets                               | `received`                                              |
/// | open      | a write failed                       | → failing                                               |
/// | open      | the peer has gone                    | → ended, `ended`                                        |
/// | failing   | soon                                 | the received octets: `received`;  → ended, `ended`      |
/// | any       | finish                               | → finishing                                             |
/// | finishing | all is written, or the peer has gone | → ended, `ended`                                        |
/// | any       | close                                | → ended                                                 |
/// | ended     | anything                             | nothing                                                 |
package final class SocketStream {
  /// The reason for its end.
  package enum End: Equatable {
    /// This side has finished, and all is written that could be.
    case finished
    /// The peer sends no more.
    case peer
    case failed(Errno)
  }

  private enum State {
    case idle
    case open
    case failing
    case finishing
    case ended
  }

  /// Octets of one read.
  private static let portion = 65536

  /// Octets of the peer, valid during the call, and the descriptor received with them.
  package var received: (UnsafeRawBufferPointer, ReceivedDescriptor?) -> Void = { _, _ in }
  package var ended: (End) -> Void = { _ in }
  /// This number of octets was written.
  package var wrote: (Int) -> Void = { _ in }

  private let waiter: any SocketWaiter
  private var state = State.idle
  private var socket: Socket?
  private var watch: (any SocketWatch)?
  private var octets = UnsentOctets()
  /// Itself, while octets wait: they are written even without another reference to it.
  private var writing: SocketStream?

  /// Nothing is read before `start`.
  package init(_ socket: Socket, on waiter: any SocketWaiter) throws(Errno) {
    self.waiter = waiter
    self.socket = socket
    watch = try waiter.watch(socket) { [unowned self] in ready($0) }
  }

  /// The number of octets that wait for room.
  package var unsent: Int { octets.count }

  package func start() {
    guard state == .idle else { return }
    state = .open
    watch?.interest.insert(.reading)
  }

  /// Sends octets. `ended` is not called from inside this call.
  package func send(_ octets: some Sequence<UInt8>) {
    guard state == .idle || state == .open else { return }
    self.octets.append(octets)
    if writing == nil { write() }
  }

  /// Ends it when all octets are written.
  package func finish() {
    guard state != .ended else { return }
    state = .finishing
    if octets.isEmpty { end(.finished) }
  }

  /// Ends it at once.
  package func close() {
    state = .ended
    (socket, watch, writing) = (nil, nil, nil)
    octets.removeAll()
    (received, ended, wrote) = ({ _, _ in }, { _ in }, { _ in })
  }

  private func end(_ end: End) {
    guard state != .ended else { return }
    let ended = ended
    let isFinishing = state == .finishing
    close()
    ended(isFinishing ? .finished : end)
  }

  private func ready(_ readiness: SocketReadiness) {
    // Its user may drop it while it handles octets.
    withExtendedLifetime(self) {
      if readiness.contains(.writing) { write() }
      if readiness.contains(.reading) { read() }
    }
  }

  /// - Returns: true if there may be more.
  @discardableResult private func read() -> Bool {
    guard let socket, state != .idle else { return false }
    let result = withUnsafeTemporaryAllocation(byteCount: Self.portion, alignment: 1) { buffer in
      let result = socket.receive(buffer)
      if case .success(let (count, passed)) = result, count > 0 {
        received(UnsafeRawBufferPointer(rebasing: buffer[..<count]), passed)
      }
      return result.map(\.count)
    }
    switch result {
    case .success(0): end(.peer)
    case .success: return true
    case .failure(.again): break
    case .failure(let error): end(.failed(error))
    }
    return false
  }

  private func write() {
    guard let socket else { return }
    do {
      try octets.write(to: socket, wrote: wrote)
    } catch {
      return error == .again ? awaitRoom() : writeFailed(error)
    }
    watch?.interest.remove(.writing)
    writing = nil
    if state == .finishing { end(.finished) }
  }

  private func awaitRoom() {
    guard writing == nil else { return }
    writing = self
    watch?.interest.insert(.writing)
  }

  /// The last octets of a closed peer are still to be read, but not from inside a call of the user.
  private func writeFailed(_ error: Errno) {
    octets.removeAll()
    watch?.interest.remove(.writing)
    writing = nil
    switch state {
    case .idle, .failing, .ended: break
    case .finishing: end(.finished)
    case .open:
      state = .failing
      waiter.later { [self] in
        while read() {}
        end(.failed(error))
      }
    }
  }
}
