import BledClient
import FoundationEssentials

/// Answers the requests of pages.
@MainActor final class WebService {
  /// The limit for event streams.
  private static let maximumStreams = 8
  /// A strict policy, also for the page's own files: they are the only sources, and no other page frames this one.
  private static let fields: [(name: String, value: String)] = [
    (
      "Content-Security-Policy",
      "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
        + "frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
    ),
    ("X-Content-Type-Options", "nosniff"), ("Referrer-Policy", "no-referrer"), ("Cache-Control", "no-store"),
    ("Cross-Origin-Resource-Policy", "same-origin"), ("Cross-Origin-Opener-Policy", "same-origin"),
  ]

  private let gate: Gate
  private let feed: Feed
  private let desk: Desk
  private let doctor: @MainActor () async throws -> Data
  private var streams: [PageStream] = []

  /// - Parameter doctor: the findings of `bleshell doctor` as a JSON array.
  init(gate: Gate, feed: Feed, desk: Desk, doctor: @escaping @MainActor () async throws -> Data) {
    self.gate = gate
    self.feed = feed
    self.desk = desk
    self.doctor = doctor
  }

  /// The answer to a request.
  func answer(_ request: HTTPRequest) async -> HTTPAnswer {
    var answer = await undressed(request)
    answer.fields += Self.fields
    return answer
  }

  private func undressed(_ request: HTTPRequest) async -> HTTPAnswer {
    if case .refused(let status, let words) = request.state { return .refusal(status, words) }
    if let refusal = gate.refusal(of: request) { return refusal }
    let route: Route
    do throws(Route.Problem) {
      route = try Route.find(request.method, request.path)
    } catch {
      switch error {
      case .notFound: return .refusal(404, "Not Found")
      case .methodNotAllowed(let allowed): return .methodNotAllowed(allowed)
      }
    }
    guard !route.needsToken || gate.authorizes(request) else { return .refusal(401, "Unauthorized") }
    do {
      return try await answer(route, request.body)
    } catch let error as BluetoothError {
      return Self.failure(error)
    } catch let error as DecodingError {
      return Self.json(400, "Bad Request", Problem(error: "the body is not as it must be: \(error)"))
    } catch {
      return Self.json(500, "Internal Server Error", Problem(error: "\(error)"))
    }
  }

  private func answer(_ route: Route, _ body: [UInt8]) async throws -> HTTPAnswer {
    switch route {
    case .page(let file): return file.answer
    case .events: return stream()
    case .doctor:
      return HTTPAnswer(200, "OK", type: "application/json", body: .octets(Array(try await doctor())))
    case .device(let identifier):
      guard let device = feed.device(identifier) else { return .refusal(404, "Not Found") }
      return Self.json(200, "OK", DeviceDetail(device))
    case .operation(let operation, let device):
      return Self.json(200, "OK", try await perform(operation, device, body))
    case .pairing:
      desk.pairings.answer(try Self.decode(Pairings.Answer.self, body))
      return Self.json(200, "OK", Empty())
    case .record:
      try await desk.record()
      return Self.json(200, "OK", Empty())
    case .recording(let number):
      guard let octets = desk.recordings.octets(number) else { return .refusal(404, "Not Found") }
      return HTTPAnswer(200, "OK", type: "application/octet-stream", body: .octets(octets))
    case .stopRecording(let number):
      try await desk.stopRecording(number)
      return Self.json(200, "OK", Empty())
    case .removeRecording(let number):
      desk.recordings.remove(number)
      return Self.json(200, "OK", Empty())
    }
  }

  private func perform(
    _ operation: Route.Operation, _ device: String, _ body: [UInt8]
  ) async throws -> any Encodable & Sendable {
    switch operation {
    case .connect: return try await desk.connect(device)
    case .disconnect:
      try await desk.disconnect(device)
      return Empty()
    case .read: return try await desk.read(device, try Self.decode(AttributeHandle.self, body).handle)
    case .write:
      let write = try Self.decode(AttributeWrite.self, body)
      try await desk.write(device, write)
      return Empty()
    case .subscribe:
      try await desk.subscribe(device, try Self.decode(AttributeHandle.self, body).handle)
      return Empty()
    case .unsubscribe:
      desk.unsubscribe(device, try Self.decode(AttributeHandle.self, body).handle)
      return Empty()
    case .pair: return try await desk.pair(device, try Self.decode(Pairings.Request.self, body))
    case .forget:
      try await desk.forget(device)
      return Empty()
    case .name:
      try desk.rename(device, try Self.decode(AttributeNames.self, body))
      return Empty()
    }
  }

  private func stream() -> HTTPAnswer {
    guard streams.count < Self.maximumStreams else {
      return Self.json(
        503, "Service Unavailable", Problem(error: "\(Self.maximumStreams) pages are open: close one of them"))
    }
    let stream = PageStream(feed: feed) { [weak self] stream in
      guard let self else { return }
      streams.removeAll { $0 === stream }
      desk.pages = streams.count
    }
    streams.append(stream)
    desk.pages = streams.count
    return HTTPAnswer(200, "OK", type: "text/event-stream", body: .stream(stream))
  }

  /// A second has begun: pages receive the devices.
  func tick() {
    for stream in streams { stream.isAirDue = true }
  }

  private struct Problem: Encodable, Sendable { var error: String }

  private static func failure(_ error: BluetoothError) -> HTTPAnswer {
    let problem = Problem(error: error.message)
    switch error.domain {
    case .bled where error.code == BledError.notPermitted.rawValue: return json(403, "Forbidden", problem)
    case .bled where error.code == BledError.invalidParameter.rawValue: return json(400, "Bad Request", problem)
    case .bled where error.code == BledError.daemonUnreachable.rawValue:
      return json(503, "Service Unavailable", problem)
    case .gap where error.code == GAPError.notConnected.rawValue: return json(409, "Conflict", problem)
    default: return json(502, "Bad Gateway", problem)
    }
  }

  private static func json(_ status: Int, _ words: String, _ value: some Encodable) -> HTTPAnswer {
    do {
      let octets = Array(try JSONEncoder().encode(value))
      return HTTPAnswer(status, words, type: "application/json", body: .octets(octets))
    } catch {
      return .refusal(500, "Internal Server Error")
    }
  }

  private static func decode<Value: Decodable>(_ type: Value.Type, _ body: [UInt8]) throws -> Value {
    try JSONDecoder().decode(type, from: Data(body))
  }
}

/// The events of one page.
@MainActor private final class PageStream: HTTPStream {
  /// True if devices are sent next.
  var isAirDue = true
  private let feed: Feed
  private var place: Feed.Place
  private let ended: @MainActor (PageStream) -> Void

  init(feed: Feed, ended: @escaping @MainActor (PageStream) -> Void) {
    self.feed = feed
    place = feed.start
    self.ended = ended
  }

  func next() -> [UInt8] {
    defer { isAirDue = false }
    return feed.events(after: &place, withAir: isAirDue, now: Date().timeIntervalSince1970)
  }

  func end() { ended(self) }
}
