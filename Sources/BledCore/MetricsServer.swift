import Bluetooth
import EventLoop
import Glibc
import Logging

/// Gives the metrics to programs that scrape them, over HTTP: each connection is one request. The page is made once a
/// second at most, so that frequent scrapes cost little.
///
/// | A connection …                  | What happens                                                            |
/// |---------------------------------|-------------------------------------------------------------------------|
/// | beyond the 8 that there may be  | takes the place of the oldest without a whole request, else of the oldest |
/// | sends a whole request           | is answered as `ScrapeRequest` decides, and closed when that is written |
/// | goes, or is not done after 5 s  | is closed                                                               |
public final class MetricsServer {
  /// How many connections there may be.
  private static let most = 8
  /// How long each may take, in nanoseconds.
  private static let patience: Int64 = 5_000_000_000
  /// How old the page may be, in nanoseconds.
  private static let freshness: Int64 = 1_000_000_000
  /// How long it waits after there was no descriptor for a connection, in nanoseconds.
  private static let pause: Int64 = 200_000_000

  private final class Scraper {
    let descriptor: CInt
    var request = ScrapeRequest()
    var answer: ArraySlice<UInt8> = []
    var watch: Watch?
    var alarm: Timer?
    var isOpen = true

    init(_ descriptor: CInt) { self.descriptor = descriptor }
  }

  private let socket: ListeningSocket
  private let daemon: Daemon
  private let loop: EventLoop
  private var watch: Watch?
  /// The oldest first.
  private var scrapers: [Scraper] = []
  /// The last answer with the page, and until when it is good.
  private var page: (answer: ArraySlice<UInt8>, end: Int64)?

  /// Begins to listen.
  /// - Throws: `EventLoopError` if the socket cannot be watched.
  public init(_ socket: ListeningSocket, daemon: Daemon, loop: EventLoop) throws(EventLoopError) {
    self.socket = socket
    self.daemon = daemon
    self.loop = loop
    watch = try Watch(socket.descriptor, on: loop, priority: .low) { [weak self] _ in self?.accept() }
  }

  /// Ends it.
  public func close() {
    guard watch != nil else { return }
    socket.removeFile()
    watch?.cancel()
    watch = nil
    Glibc.close(socket.descriptor)
    for scraper in scrapers { drop(scraper) }
  }

  private func accept() {
    let descriptor = Glibc.accept(socket.descriptor, nil, nil)
    guard descriptor >= 0 else {
      guard ![EAGAIN, EINTR, ECONNABORTED].contains(errno) else { return }
      // Without a descriptor or memory it waits; the daemon's own socket complains.
      watch?.isEnabled = false
      _ = loop.schedule(at: EventLoop.now + Self.pause) { [weak self] in
        self?.watch?.isEnabled = true
      }
      return
    }
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
    let scraper = Scraper(descriptor)
    do throws(EventLoopError) {
      scraper.watch = try Watch(descriptor, on: loop, priority: .low) { [unowned self, unowned scraper] readiness in
        ready(scraper, readiness)
      }
    } catch {
      Glibc.close(descriptor)
      return
    }
    if scrapers.count >= Self.most {
      let oldest = scrapers.first { $0.request.state == .waiting } ?? scrapers.first
      if let oldest { drop(oldest) }
    }
    scrapers.append(scraper)
    scraper.alarm = loop.schedule(at: EventLoop.now + Self.patience) { [weak self, weak scraper] in
      if let scraper { self?.drop(scraper) }
    }
  }

  private func ready(_ scraper: Scraper, _ readiness: Watch.Readiness) {
    if scraper.request.state == .waiting { read(scraper) }
    guard scraper.isOpen, scraper.request.state != .waiting else { return }
    write(scraper)
  }

  private func read(_ scraper: Scraper) {
    let count = withUnsafeTemporaryAllocation(byteCount: ScrapeRequest.longest, alignment: 1) { buffer in
      let count = recv(scraper.descriptor, buffer.baseAddress, buffer.count, Int32(MSG_DONTWAIT))
      if count > 0 { scraper.request.append(buffer[..<count]) }
      return count
    }
    if count < 0, errno == EAGAIN || errno == EINTR { return }
    guard count > 0 else { return drop(scraper) }
    switch scraper.request.state {
    case .waiting: break
    case .granted: scraper.answer = pageAnswer
    case .refused(let status, let words): scraper.answer = answer(status, words, "text/plain", words + "\n")
    }
  }

  private var pageAnswer: ArraySlice<UInt8> {
    if let page, EventLoop.now < page.end { return page.answer }
    let answer = answer(200, "OK", PrometheusText.contentType, PrometheusText.page(daemon.metrics))
    page = (answer, EventLoop.now + Self.freshness)
    return answer
  }

  private func answer(_ status: Int, _ words: String, _ type: String, _ body: String) -> ArraySlice<UInt8> {
    let allow = status == 405 ? "Allow: GET\r\n" : ""
    let head =
      "HTTP/1.1 \(status) \(words)\r\nContent-Type: \(type)\r\nContent-Length: \(body.utf8.count)\r\n\(allow)"
      + "Connection: close\r\n\r\n"
    return Array((head + body).utf8)[...]
  }

  private func write(_ scraper: Scraper) {
    let count = scraper.answer.withUnsafeBytes {
      send(scraper.descriptor, $0.baseAddress, $0.count, Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL))
    }
    if count > 0 { scraper.answer = scraper.answer.dropFirst(count) }
    guard !scraper.answer.isEmpty, count >= 0 || errno == EAGAIN || errno == EINTR else { return finish(scraper) }
    scraper.watch?.interest = .writable
  }

  /// The answer is written. What the other side sent besides is read, so that the kernel does not reset the connection
  /// before the answer was read.
  private func finish(_ scraper: Scraper) {
    shutdown(scraper.descriptor, Int32(SHUT_WR))
    var rest = [UInt8](repeating: 0, count: ScrapeRequest.longest)
    _ = recv(scraper.descriptor, &rest, rest.count, Int32(MSG_DONTWAIT))
    drop(scraper)
  }

  private func drop(_ scraper: Scraper) {
    guard scraper.isOpen else { return }
    scraper.isOpen = false
    scrapers.removeAll { $0 === scraper }
    scraper.watch?.cancel()
    scraper.alarm?.cancel()
    Glibc.close(scraper.descriptor)
  }
}

extension ListeningSocket {
  /// Listens on a port of this machine alone: 127.0.0.1.
  /// - Throws: `SocketError`, for instance if another program has the port.
  public init(loopbackPort port: UInt16) throws(SocketError) {
    let name = "127.0.0.1:\(port)"
    let type = SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue
    let descriptor = Glibc.socket(AF_INET, Int32(type), 0)
    guard descriptor >= 0 else { throw Self.refusal(name, "socket") }
    // A port that was in use a moment ago is free.
    var yes: Int32 = 1
    setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let bound = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard bound == 0, listen(descriptor, 16) == 0 else {
      let error = Self.refusal(name, bound == 0 ? "listen" : "bind")
      Glibc.close(descriptor)
      throw error
    }
    self.init(inherited: descriptor)
  }

  private static func refusal(_ name: String, _ call: String) -> SocketError {
    .refused(path: name, call: call, code: errno, reason: String(cString: strerror(errno)))
  }
}
