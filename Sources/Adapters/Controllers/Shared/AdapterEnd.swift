import Adapter
import Bluetooth
import Radio

/// The end of one controller's use, for a while or for good: the system goes to sleep, or bled stops. Until the
/// controller is quiet it stays in use, for a limited time.
final class AdapterEnd {
  /// An end that waits for a quiet controller.
  private struct Waiting {
    let finish: () -> Void
    /// Rings when the controller's time is over.
    let alarm: any ScheduledWork
  }

  private let context: AdapterContext
  private var sleep: Waiting?
  private var stop: Waiting?
  /// Called when everything has stopped.
  private var stopping: [() -> Void] = []

  init(in context: AdapterContext) { self.context = context }

  var isStopping: Bool { !stopping.isEmpty }
  var isSuspending: Bool { sleep != nil }

  /// The adapter is to stop.
  /// - Returns: true for the first request.
  func stops(_ done: @escaping () -> Void) -> Bool {
    stopping.append(done)
    return stopping.count == 1
  }

  /// The controller becomes quiet before bled stops.
  /// - Parameter finish: called when it is quiet without links, or the time for that is over: a device or controller
  ///   that does not answer by then is left behind.
  func waitsToStop(_ finish: @escaping () -> Void) {
    stop = Waiting(
      finish: finish, alarm: context.scheduler.schedule(after: LinkLife.departure + .seconds(1), finish))
  }

  /// The controller becomes quiet before the system sleeps.
  /// - Parameter finish: called when it is quiet, or the time for that is over.
  func waitsToSleep(_ finish: @escaping () -> Void) {
    sleep = Waiting(finish: finish, alarm: context.scheduler.schedule(after: .seconds(1), finish))
  }

  /// The controller is quiet.
  /// - Returns: true if that belongs to an end.
  func becameQuiet(hasLinks: Bool) -> Bool {
    if isStopping {
      if !hasLinks { stop?.finish() }
      return true
    }
    guard let sleep else { return false }
    sleep.finish()
    return true
  }

  /// The controller is closed, and need not become quiet for sleep.
  func isClosed() {
    sleep?.alarm.cancel()
    sleep = nil
  }

  /// The controller is quiet, or the time for it is over.
  func isQuiet() {
    stop?.alarm.cancel()
    stop = nil
  }

  /// Everything has stopped.
  func hasStopped() {
    context.scheduler.execute {
      let waiting = self.stopping
      self.stopping = []
      for done in waiting { done() }
    }
  }
}
