import Adapter
import Bluetooth
import EventLoop
import Logging

/// The loop, its clock and the log, which the parts of one adapter share.
final class AdapterContext {
  let loop: EventLoop
  let scheduler: any Scheduler
  private(set) var logger: Logger
  /// The adapter's name, such as "hci0".
  var name: String {
    didSet { logger[metadataKey: "adapter"] = "\(name)" }
  }

  init(name: String, loop: EventLoop, scheduler: any Scheduler, logger: Logger) {
    self.name = name
    self.loop = loop
    self.scheduler = scheduler
    self.logger = logger
    self.logger[metadataKey: "adapter"] = "\(name)"
  }

  /// Logs which activities the controller cannot have at once.
  func logShortage(_ information: AdapterInformation) {
    if !information.takingTurns.isEmpty {
      let words = information.takingTurns.map(\.rawValue).joined(separator: ", ")
      logger.info("the controller cannot do these at the same time; alternating: \(words)")
    }
    if !information.heldBack.isEmpty {
      let words = information.heldBack.map(\.rawValue).joined(separator: ", ")
      logger.info("the controller cannot do this beside its links: \(words)")
    }
  }

  /// Sets an alarm to another time, in place of the last; nil for none.
  /// - Parameter ring: called with the time of the call.
  func arm(
    _ alarm: inout (any ScheduledWork)?, at deadline: Instant?, _ ring: @escaping (_ now: Instant) -> Void
  ) {
    alarm?.cancel()
    alarm = deadline.map { deadline in
      scheduler.schedule(at: deadline) { [scheduler] in ring(scheduler.now) }
    }
  }

  /// Calls back with an error, after the call that caused it.
  func fail(_ done: @escaping (BluetoothError?) -> Void, _ error: BluetoothError) {
    loop.execute { done(error) }
  }

  /// The same for a call that has a result.
  func fail<Value>(_ done: @escaping (Result<Value, BluetoothError>) -> Void, _ error: BluetoothError) {
    loop.execute { done(.failure(error)) }
  }
}
