import Adapter
import Radio

/// The end of the use of one controller, for a while or for good: the system goes to sleep, or bled stops. Until the
/// controller is quiet it goes on, for a limited time.
package final class AdapterEnd {
  private let context: AdapterContext
  /// Rings when the controller has had its time to become quiet before the system sleeps.
  private var suspendAlarm: (any ScheduledWork)?
  /// Rings when the controller has had its time to become quiet before bled stops.
  private var stopAlarm: (any ScheduledWork)?
  /// Called when everything has stopped.
  private var stopping: [() -> Void] = []

  package init(in context: AdapterContext) { self.context = context }

  package var isStopping: Bool { !stopping.isEmpty }
  package var isSuspending: Bool { suspendAlarm != nil }

  /// The adapter is to stop.
  /// - Returns: whether it goes on until now.
  package func stops(_ done: @escaping () -> Void) -> Bool {
    stopping.append(done)
    return stopping.count == 1
  }

  /// The controller becomes quiet before bled stops.
  /// - Parameter timeIsOver: called unless it `isQuiet` before: a device or controller that does not answer by then is
  ///   left behind.
  package func waitsToStop(_ timeIsOver: @escaping () -> Void) {
    stopAlarm = context.scheduler.schedule(after: Departure.timeout + .seconds(1), timeIsOver)
  }

  /// The controller becomes quiet before the system sleeps.
  package func waitsToSleep(_ timeIsOver: @escaping () -> Void) {
    suspendAlarm = context.scheduler.schedule(after: .seconds(1), timeIsOver)
  }

  /// The controller is closed, and need not become quiet for sleep any more.
  package func isClosed() {
    suspendAlarm?.cancel()
    suspendAlarm = nil
  }

  /// The controller is quiet, or the time for it is over.
  package func isQuiet() {
    stopAlarm?.cancel()
    stopAlarm = nil
  }

  /// Everything has stopped.
  package func hasStopped() {
    context.loop.execute {
      let waiting = self.stopping
      self.stopping = []
      for done in waiting { done() }
    }
  }
}
