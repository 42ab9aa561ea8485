/// The time limit of a command: for all of it, or for each step.
struct Deadline: Sendable {
  /// Seconds for finding a device, and then for connecting to it, without a limit for all of it.
  static let usual = 15.0
  /// No limit.
  static let never = Deadline(limit: 0)

  /// The given seconds; nil without any, 0: no limit.
  let limit: Double?
  private let end: ContinuousClock.Instant?

  /// - Parameter limit: Seconds from now on for the whole command; 0: no limit; nil: 15 for each step.
  init(limit: Double?) {
    self.limit = limit
    end = limit.flatMap { $0 > 0 ? ContinuousClock.now + .seconds($0) : nil }
  }

  /// Seconds for an operation that begins now; 0: no limit.
  var seconds: Double {
    guard let end else { return limit ?? Self.usual }
    // In whole tenths, which messages can show.
    return max(0.1, ((end - ContinuousClock.now) / .seconds(1) * 10).rounded(.up) / 10)
  }

  /// Seconds for a step that has another limit as well: infinite without a limit.
  var window: Double { limit == 0 ? .infinity : seconds }

  /// True if it has passed.
  var isOver: Bool { end.map { $0 <= .now } ?? false }

  /// The given seconds, for messages: "15"
  var words: String { shortNumber(limit ?? Self.usual) }

  /// Runs a function, for as long as there is time.
  /// - Throws: `Failure` when the time is over.
  func bound<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) async throws -> Value {
    guard end != nil else { return try await body() }
    // A call with its own limit reports it first, with more details.
    guard let value = try await withDeadline(seconds + 0.2, body) else {
      throw Failure("it was not done within \(words) s", passes: true)
    }
    return value
  }
}
