import BledClient
import BledConnection
import FoundationEssentials

/// The page of `bleshell web`: an HTTP server on this machine, and one session with the daemon.
@MainActor public final class WebServer {
  private static let maximumConnections = 64
  /// The interval of checks for changes.
  private static let beat = Duration.milliseconds(250)
  /// Devices are sent once in this number of checks.
  private static let beatsPerSecond = 4

  /// The address of the page, with the token.
  public let address: String
  private let server: HTTPServer
  private let service: WebService
  private let desk: Desk

  /// Begins to serve.
  /// - Parameters:
  ///   - listener: a socket that only programs of this machine reach.
  ///   - socket: the daemon's socket.
  ///   - allowsWrites: true if pages may write values.
  ///   - keys: the keys of sensors that encrypt their measurements.
  ///   - words: the names of UUIDs and the contents of advertisements.
  ///   - doctor: the findings of `bleshell doctor`, as a JSON array.
  package init(
    _ listener: Listener, socket: String, allowsWrites: Bool, keys: [ScanStart.Key]?, words: Words,
    doctor: @escaping @MainActor () async throws -> Data
  ) {
    let token = Gate.randomToken()
    address = "\(listener.url)/#\(token)"
    let feed = Feed(words: words.contents)
    let desk = Desk(socket: socket, feed: feed, words: words, allowsWrites: allowsWrites, keys: keys)
    let service = WebService(
      gate: Gate(host: listener.host, token: token), feed: feed, desk: desk, doctor: doctor)
    (self.desk, self.service) = (desk, service)
    server = HTTPServer(listener, limit: Self.maximumConnections) { await service.answer($0) }
  }

  /// Serves until the task is cancelled.
  public func run() async {
    let session = Task { await desk.run() }
    var beats = 0
    while (try? await Task.sleep(for: Self.beat)) != nil {
      beats = (beats + 1) % Self.beatsPerSecond
      if beats == 0 { service.tick() }
      server.pump()
    }
    session.cancel()
    server.close()
    await session.value
  }
}
