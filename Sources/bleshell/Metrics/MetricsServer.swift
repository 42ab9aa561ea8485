import Dispatch
import Glibc

/// Serves the metrics to programs that scrape them, over HTTP: each connection is one request.
///
/// | A connection …                    | Effect                                                                  |
/// |-----------------------------------|-------------------------------------------------------------------------|
/// | beyond the limit of 8             | replaces the oldest without a whole request, else the oldest            |
/// | sends a whole request             | is answered as `ScrapeRequest` decides, and closed after the last octet |
/// | ends, or is not done after 5 s    | is closed                                                               |
@MainActor final class MetricsServer {
  /// The limit for connections.
  private static let limit = 8
  /// The limit for the time of a connection.
  private static let timeout = Duration.seconds(5)
  /// The time without `accept` after there was no descriptor for a connection.
  private static let pause = DispatchTimeInterval.milliseconds(200)

  private let listener: TCPListener
  private let page: MetricsPage
  private var watch: (any DispatchSourceRead)?
  private var isClosed = false
  /// The oldest first.
  private var scrapers: [Scraper] = []

  /// Begins to accept connections.
  init(_ listener: TCPListener, page: MetricsPage) {
    self.listener = listener
    self.page = page
    awaitConnections()
  }

  /// Closes all connections and accepts no more.
  func close() {
    isClosed = true
    watch?.cancel()
    for scraper in scrapers { drop(scraper) }
  }

  private func awaitConnections() {
    let watch = DispatchSource.makeReadSource(fileDescriptor: listener.descriptor, queue: .main)
    watch.setEventHandler { [weak self] in MainActor.assumeIsolated { self?.accept() } }
    watch.setCancelHandler { [listener] in withExtendedLifetime(listener) {} }
    watch.activate()
    self.watch = watch
  }

  private func accept() {
    let descriptor = Glibc.accept(listener.descriptor, nil, nil)
    guard descriptor >= 0 else {
      guard ![EAGAIN, EINTR, ECONNABORTED].contains(errno) else { return }
      // Without a descriptor or memory the connection stays in the queue, and the source would fire again at once.
      watch?.cancel()
      DispatchQueue.main.asyncAfter(deadline: .now() + Self.pause) { [weak self] in
        MainActor.assumeIsolated {
          guard let self, !self.isClosed else { return }
          self.awaitConnections()
        }
      }
      return
    }
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
    if scrapers.count >= Self.limit, let oldest = scrapers.first(where: \.isWaiting) ?? scrapers.first { drop(oldest) }
    let scraper = Scraper(descriptor, timeout: Self.timeout) { [page] state in
      switch state {
      case .refused(let status, let words): ScrapeAnswer.refusal(status, words)
      case .waiting, .granted: await page.answer()
      }
    } ended: { [weak self] scraper in
      self?.drop(scraper)
    }
    scrapers.append(scraper)
  }

  private func drop(_ scraper: Scraper) {
    scrapers.removeAll { $0 === scraper }
    scraper.close()
  }
}
