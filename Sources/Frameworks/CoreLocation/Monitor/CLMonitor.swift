/// Monitors conditions: the presence of beacons.
///
/// The program must retain it: when it is released, monitoring ends, and its events finish. Conditions are not kept
/// when the program ends.
public actor CLMonitor {
  /// The changes of conditions, in order, for one reader. The newest 1024 are queued.
  public let events: Events
  private let engine: MonitorEngine

  /// Makes a monitor.
  /// - Parameter name: The program's own name for it. It has no effect on Linux.
  public init(_ name: String) async { self.init(socket: nil) }

  /// - Parameter socket: The daemon's; nil: the one named in the environment.
  init(socket: String?) {
    let (stream, output) = AsyncThrowingStream.makeStream(of: Event.self, bufferingPolicy: .bufferingNewest(1024))
    events = Events(stream: stream)
    engine = MonitorEngine(socket: socket, output)
  }

  deinit { engine.close() }

  /// The conditions' identifiers, sorted.
  public var identifiers: [String] { engine.identifiers }

  /// Monitors a condition, replacing one with the same identifier. A monitor has twenty at most: an event reports that
  /// a further one, or one for anything but beacons, is not monitored.
  /// - Parameters:
  ///   - condition: The condition.
  ///   - identifier: The program's name for it.
  public func add(_ condition: any CLCondition, identifier: String) {
    add(condition, identifier: identifier, assuming: .unknown)
  }

  /// Monitors a condition; the first event follows when its state differs from the program's assumption.
  /// - Parameters:
  ///   - condition: The condition.
  ///   - identifier: The program's name for it.
  ///   - state: The state assumed by the program.
  public func add(_ condition: any CLCondition, identifier: String, assuming state: Event.State) {
    engine.add(condition, identifier, state)
  }

  /// Monitors a condition no longer.
  public func remove(_ identifier: String) { engine.remove(identifier) }

  /// A condition with its last event; nil without one for this identifier.
  public func record(for identifier: String) -> Record? { engine.record(for: identifier) }
}

extension CLMonitor {
  /// A monitor's events.
  public struct Events: AsyncSequence, Sendable {
    /// The type of elements.
    public typealias Element = Event

    let stream: AsyncThrowingStream<Event, any Error>

    /// Makes an iterator.
    public func makeAsyncIterator() -> Iterator { Iterator(iterator: stream.makeAsyncIterator()) }

    /// Waits for events.
    public struct Iterator: AsyncIteratorProtocol {
      var iterator: AsyncThrowingStream<Event, any Error>.AsyncIterator

      /// The next event; nil when the monitor is released, or the task is cancelled.
      public mutating func next() async throws -> Event? { try await iterator.next() }
    }
  }

  /// A monitored condition.
  public struct Record: Sendable {
    /// The condition.
    public let condition: any CLCondition
    /// Its last event; before the first one the assumed state.
    public let lastEvent: Event
  }

  /// A condition has another state.
  public struct Event: Sendable {
    /// A condition's state.
    public enum State: UInt, Sendable {
      /// The state is not known yet.
      case unknown
      /// The condition holds: a beacon is in reach.
      case satisfied
      /// The condition does not hold.
      case unsatisfied
      /// The condition is not monitored.
      case unmonitored
    }

    /// The program's name for the condition.
    public let identifier: String
    /// The condition for the single received beacon, if the state is satisfied.
    public internal(set) var refinement: (any CLCondition)?
    /// The state.
    public let state: State
    /// When it was found.
    public let date: Date
    /// True if bled's policy does not permit this user to scan.
    public internal(set) var authorizationDenied = false
    /// True if the monitor has twenty conditions already.
    public internal(set) var conditionLimitExceeded = false
    /// True if conditions of this kind are not monitored: on Linux only beacon conditions are.
    public internal(set) var conditionUnsupported = false

    /// Always false.
    public var authorizationDeniedGlobally: Bool { false }
    /// Always false.
    public var authorizationRestricted: Bool { false }
    /// Always false.
    public var authorizationRequestInProgress: Bool { false }
    /// Always false.
    public var accuracyLimited: Bool { false }
    /// Always false.
    public var insufficientlyInUse: Bool { false }
    /// Always true: conditions are not kept when the program ends.
    public var persistenceUnavailable: Bool { true }
    /// Always false.
    public var serviceSessionRequired: Bool { false }
  }
}
