/// The paths of the server.
enum Route: Hashable, Sendable {
  /// A file of the page.
  case page(PageFile)
  /// The event stream.
  case events
  /// The findings of `bleshell doctor`.
  case doctor
  /// Everything known about a discovered device.
  case device(String)
  /// An operation on a device.
  case operation(Operation, device: String)
  /// The answer to the question of a pairing.
  case pairing
  /// Starts a recording.
  case record
  /// The octets of a recording.
  case recording(Int)
  /// Ends a recording.
  case stopRecording(Int)
  /// Removes a recording.
  case removeRecording(Int)

  /// An operation on a device.
  enum Operation: String, CaseIterable, Sendable {
    case connect, disconnect, read, write, subscribe, unsubscribe, pair, forget, name
  }

  /// A path that does not exist, or not with this method.
  enum Problem: Error, Equatable {
    case notFound
    /// With the allowed method of the path.
    case methodNotAllowed(String)
  }

  /// True if a request needs the token: all that shows or changes something.
  var needsToken: Bool { if case .page = self { false } else { true } }

  /// The route of a request.
  static func find(_ method: String, _ path: String) throws(Problem) -> Route {
    let (route, allowed) = try known(path)
    guard method == allowed else { throw .methodNotAllowed(allowed) }
    return route
  }

  private static func known(_ path: String) throws(Problem) -> (Route, method: String) {
    if let file = PageFile(path: path) { return (.page(file), "GET") }
    let parts = path.split(separator: "/", omittingEmptySubsequences: false).dropFirst().map(String.init)
    guard parts.first == "api" else { throw .notFound }
    switch parts.dropFirst() {
    case ["events"]: return (.events, "GET")
    case ["doctor"]: return (.doctor, "GET")
    case let rest where rest.first == "devices" && rest.count == 2: return (.device(parts[2]), "GET")
    case let rest where rest.first == "devices" && rest.count == 3:
      guard let operation = Operation(rawValue: parts[3]) else { throw .notFound }
      return (.operation(operation, device: parts[2]), "POST")
    case ["pairing"]: return (.pairing, "POST")
    case ["recordings"]: return (.record, "POST")
    case let rest where rest.first == "recordings" && rest.count <= 3:
      // The digits of a short number.
      guard parts[2].utf8.count < 10, let number = Int(parts[2]), number > 0 else { throw .notFound }
      switch parts.dropFirst(3).first {
      case nil: return (.recording(number), "GET")
      case "stop": return (.stopRecording(number), "POST")
      case "remove": return (.removeRecording(number), "POST")
      default: throw .notFound
      }
    default: throw .notFound
    }
  }
}
