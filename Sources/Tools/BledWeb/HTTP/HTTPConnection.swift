import BledConnection
import Dispatch
private import Glibc

/// One connection: one request and its answer.
///
/// | State     | Event                                              | Then                                    |
/// |-----------|----------------------------------------------------|-----------------------------------------|
/// | reading   | the request is whole or refused                    | answering                               |
/// | reading   | the end, or the timeout                            | ended                                   |
/// | answering | the answer is made                                 | writing                                 |
/// | writing   | all octets are sent; the answer has a stream       | streaming                               |
/// | writing   | all octets are sent                                | ended                                   |
/// | streaming | `pump`, and all earlier octets were accepted       | the next octets of the stream are sent  |
/// | streaming | the receiver closes its end                        | ended                                   |
/// | writing, streaming | octets are not accepted at the receiver's pace | ended                              |
@MainActor final class HTTPConnection {
  enum State {
    case reading, answering, writing, streaming, ended
  }

  private static let readLength = 16_384

  private(set) var state = State.reading
  /// Closed once no source watches it.
  private let socket: Socket
  private let pace: ReceiverPace
  private let answer: @MainActor (HTTPRequest) async -> HTTPAnswer
  private let ended: @MainActor (HTTPConnection) -> Void
  private var request = HTTPRequest()
  private var rest: ArraySlice<UInt8> = []
  private var stream: (any HTTPStream)?
  private var reader: (any DispatchSourceRead)?
  private var writer: (any DispatchSourceWrite)?
  /// Far in the future unless something is awaited. A task would have to wait for all other tasks of the program.
  private let alarm = DispatchSource.makeTimerSource(queue: .main)

  /// Begins to read.
  /// - Parameters:
  ///   - timeout: the limit for the time until the request is whole.
  ///   - pace: the limit for the time until the answer, or a piece of a stream, is accepted.
  ///   - answer: makes the answer to a whole or refused request.
  ///   - ended: called once, when the connection is done, has ended, or has lasted too long.
  init(
    _ socket: Socket, timeout: Duration, pace: ReceiverPace,
    answer: @escaping @MainActor (HTTPRequest) async -> HTTPAnswer, ended: @escaping @MainActor (HTTPConnection) -> Void
  ) {
    self.socket = socket
    self.pace = pace
    self.answer = answer
    self.ended = ended
    alarm.setEventHandler { [weak self] in MainActor.assumeIsolated { self?.close() } }
    alarm.activate()
    setAlarm(timeout)
    watchReading()
  }

  /// Ends the connection.
  func close() {
    guard state != .ended else { return }
    state = .ended
    reader?.cancel()
    writer?.cancel()
    alarm.cancel()
    stream?.end()
    ended(self)
  }

  /// Sends the next octets of the stream, if the receiver has accepted all earlier ones.
  func pump() {
    guard state == .streaming, rest.isEmpty, let stream else { return }
    let octets = stream.next()
    if !octets.isEmpty { send(octets) }
  }

  /// - Parameter timeout: nil for no alarm. Time asleep does not count.
  private func setAlarm(_ timeout: Duration?) {
    guard let (seconds, attoseconds) = timeout?.components else { return alarm.schedule(deadline: .distantFuture) }
    let milliseconds = Int(clamping: seconds * 1000 + attoseconds / 1_000_000_000_000_000)
    alarm.schedule(deadline: .now() + .milliseconds(milliseconds))
  }

  private func watchReading() {
    let reader = DispatchSource.makeReadSource(fileDescriptor: socket.descriptor, queue: .main)
    reader.setEventHandler { [weak self] in MainActor.assumeIsolated { self?.read() } }
    reader.setCancelHandler { [socket] in withExtendedLifetime(socket) {} }
    reader.activate()
    self.reader = reader
  }

  private func read() {
    guard state == .reading || state == .streaming else { return }
    let count = withUnsafeTemporaryAllocation(byteCount: Self.readLength, alignment: 1) { buffer in
      let count = recv(socket.descriptor, buffer.baseAddress, buffer.count, Int32(MSG_DONTWAIT))
      // Octets behind the request have no meaning.
      if count > 0, state == .reading { request.append(buffer[..<count]) }
      return count
    }
    if count < 0, errno == EAGAIN || errno == EINTR { return }
    guard count > 0 else { return close() }
    guard state == .reading, request.state != .waiting else { return }
    state = .answering
    setAlarm(nil)
    // Nothing is read until the answer is sent: the source would fire while octets are waiting.
    reader?.cancel()
    reader = nil
    Task { begin(await answer(request)) }
  }

  private func begin(_ answer: HTTPAnswer) {
    guard state == .answering else {
      if case .stream(let stream) = answer.body { stream.end() }
      return
    }
    if case .stream(let stream) = answer.body { self.stream = stream }
    state = .writing
    send(answer.octets)
  }

  private func send(_ octets: [UInt8]) {
    rest = octets[...]
    setAlarm(pace.limit(for: octets.count))
    write()
  }

  private func write() {
    let count = rest.withUnsafeBytes {
      Glibc.send(socket.descriptor, $0.baseAddress, $0.count, Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL))
    }
    guard count >= 0 || errno == EAGAIN || errno == EINTR else { return close() }
    if count > 0 { rest = rest.dropFirst(count) }
    if rest.isEmpty {
      setAlarm(nil)
      writer?.cancel()
      writer = nil
      return sent()
    }
    if writer == nil { watchWriting() }
  }

  private func watchWriting() {
    // Two sources on one number share its registration with epoll(7), and may miss an event.
    let number = fcntl(socket.descriptor, F_DUPFD_CLOEXEC, 0)
    guard number >= 0 else { return close() }
    let writer = DispatchSource.makeWriteSource(fileDescriptor: number, queue: .main)
    writer.setEventHandler { [weak self] in
      MainActor.assumeIsolated {
        guard let self, self.state == .writing || self.state == .streaming, !self.rest.isEmpty else { return }
        self.write()
      }
    }
    writer.setCancelHandler { Glibc.close(number) }
    writer.activate()
    self.writer = writer
  }

  private func sent() {
    guard state == .writing else { return }
    guard stream == nil else {
      state = .streaming
      watchReading()
      return pump()
    }
    // With unread octets the kernel would reset the connection, and the answer could be lost.
    shutdown(socket.descriptor, Int32(SHUT_WR))
    var octets = [UInt8](repeating: 0, count: Self.readLength)
    _ = recv(socket.descriptor, &octets, octets.count, Int32(MSG_DONTWAIT))
    close()
  }
}
