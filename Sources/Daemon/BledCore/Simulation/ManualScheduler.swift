import Adapter
import Bluetooth

/// A clock moved by clients (`simulation.advance`). Work due at its present time needs no move: the daemon schedules it
/// to leave its current call.
public final class ManualScheduler: Scheduler {
  /// Alarms handled before other work of the event loop has its turn.
  private static let alarmsInATurn = 500

  private let clock: VirtualScheduler
  private let later: (@escaping () -> Void) -> Void
  private var isWaiting = false
  private var moves: [(end: Instant, done: () -> Void)] = []

  /// Makes a clock stopped at 2023-11-14 22:13:20 UTC, 1,700,000,000 seconds after 1970.
  /// - Parameter later: calls work soon, from the event loop, and not from inside the call.
  public init(later: @escaping (@escaping () -> Void) -> Void) {
    clock = VirtualScheduler()
    self.later = later
  }

  /// The time on the clock.
  public var now: Instant { clock.now }

  /// The time of day on the clock.
  public var secondsSinceEpoch: Double { clock.secondsSinceEpoch }

  /// Sets an alarm.
  public func schedule(at time: Instant, _ work: @escaping () -> Void) -> any ScheduledWork {
    let alarm = clock.schedule(at: time, work)
    if time <= now { moveSoon() }
    return alarm
  }

  /// Calls `work` soon, at the present time: before the next alarm.
  public func execute(_ work: @escaping () -> Void) {
    clock.execute(work)
    moveSoon()
  }

  /// Does all that is due at the present time, and its consequences. Not to be called from inside such work.
  public func settle() { clock.advance(by: .zero) }

  /// Moves the clock, behind the pending moves.
  /// - Parameter done: called when the clock has arrived and everything due on the way is done.
  public func advance(by duration: Duration, _ done: @escaping () -> Void) {
    moves.append(((moves.last?.end ?? now).advanced(by: duration), done))
    moveSoon()
  }

  private func moveSoon() {
    guard !isWaiting else { return }
    isWaiting = true
    later { [weak self] in
      self?.isWaiting = false
      self?.move()
    }
  }

  private func move() {
    guard clock.advance(to: moves.first?.end ?? now, ringing: Self.alarmsInATurn) else { return moveSoon() }
    if !moves.isEmpty { moves.removeFirst().done() }
    if !moves.isEmpty { moveSoon() }
  }
}
