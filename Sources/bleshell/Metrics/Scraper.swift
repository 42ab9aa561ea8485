import Dispatch
import Glibc

/// One connection of a program that scrapes the metrics.
@MainActor final class Scraper {
  /// The socket, closed when no source watches it any more.
  private final class Descriptor: Sendable {
    let number: Int32
    init(_ number: Int32) { self.number = number }
    deinit { Glibc.close(number) }
  }

  private let descriptor: Descriptor
  private let answer: @MainActor (ScrapeRequest.State) async -> [UInt8]
  private let ended: @MainActor (Scraper) -> Void
  private var request = ScrapeRequest()
  private var rest: ArraySlice<UInt8> = []
  private var reader: (any DispatchSourceRead)?
  private var writer: (any DispatchSourceWrite)?
  private var alarm: Task<Void, Never>?
  private var isOpen = true

  /// Begins to read.
  /// - Parameters:
  ///   - answer: Makes the answer to a whole request.
  ///   - ended: Called when the connection is done, has ended, or has lasted too long.
  init(
    _ descriptor: Int32, timeout: Duration, answer: @escaping @MainActor (ScrapeRequest.State) async -> [UInt8],
    ended: @escaping @MainActor (Scraper) -> Void
  ) {
    self.descriptor = Descriptor(descriptor)
    self.answer = answer
    self.ended = ended
    let reader = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: .main)
    reader.setEventHandler { [weak self] in MainActor.assumeIsolated { self?.read() } }
    reader.setCancelHandler { [descriptor = self.descriptor] in withExtendedLifetime(descriptor) {} }
    reader.activate()
    self.reader = reader
    alarm = Task { [weak self] in
      guard (try? await Task.sleep(for: timeout)) != nil, let self else { return }
      self.ended(self)
    }
  }

  /// Whether there is no whole request yet.
  var isWaiting: Bool { request.state == .waiting }

  /// Ends the connection.
  func close() {
    isOpen = false
    reader?.cancel()
    writer?.cancel()
    alarm?.cancel()
  }

  private func read() {
    guard isOpen, isWaiting else { return }
    let count = withUnsafeTemporaryAllocation(byteCount: ScrapeRequest.longest, alignment: 1) { buffer in
      let count = recv(descriptor.number, buffer.baseAddress, buffer.count, Int32(MSG_DONTWAIT))
      if count > 0 { request.append(buffer[..<count]) }
      return count
    }
    if count < 0, errno == EAGAIN || errno == EINTR { return }
    guard count > 0 else { return ended(self) }
    guard !isWaiting else { return }
    // Octets behind the request are not read: the source would fire for as long as they are there.
    reader?.cancel()
    Task {
      rest = await answer(request.state)[...]
      if isOpen { write() }
    }
  }

  private func write() {
    let count = rest.withUnsafeBytes {
      send(descriptor.number, $0.baseAddress, $0.count, Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL))
    }
    if count > 0 { rest = rest.dropFirst(count) }
    guard !rest.isEmpty, count >= 0 || errno == EAGAIN || errno == EINTR else { return finish() }
    guard writer == nil else { return }
    // Two sources on one number share its registration with epoll(7), and may miss an event.
    let number = fcntl(descriptor.number, F_DUPFD_CLOEXEC, 0)
    guard number >= 0 else { return ended(self) }
    let writer = DispatchSource.makeWriteSource(fileDescriptor: number, queue: .main)
    writer.setEventHandler { [weak self] in
      MainActor.assumeIsolated {
        guard let self, self.isOpen else { return }
        self.write()
      }
    }
    writer.setCancelHandler { Glibc.close(number) }
    writer.activate()
    self.writer = writer
  }

  /// Reads the octets after the request: with unread octets the kernel would reset the connection, and the answer could
  /// be lost.
  private func finish() {
    shutdown(descriptor.number, Int32(SHUT_WR))
    var octets = [UInt8](repeating: 0, count: ScrapeRequest.longest)
    _ = recv(descriptor.number, &octets, octets.count, Int32(MSG_DONTWAIT))
    ended(self)
  }
}
