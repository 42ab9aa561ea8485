import Adapter
import Bluetooth
import EventLoop
import Logging

/// The clock, the log and the random numbers, shared by the parts of one adapter.
class AdapterContext {
  let scheduler: any Scheduler
  private(set) var logger: Logger
  /// The adapter's name, such as "hci0".
  var name: String {
    didSet { logger[metadataKey: "adapter"] = "\(name)" }
  }
  /// The owner of the quirk table.
  var keeper: any QuirkKeeper = LocalQuirks()
  /// The source of secrets and private addresses.
  var random: any RandomNumberGenerator = SystemRandomNumberGenerator()
  /// The quirks of controllers without a known make: they hold for this adapter alone, until the process ends.
  private let nameless = LocalQuirks()
  /// The make of the controller; the last one's while there is none.
  var model = QuirkTable.Model()

  init(name: String, scheduler: any Scheduler, logger: Logger) {
    self.name = name
    self.scheduler = scheduler
    self.logger = logger
    self.logger[metadataKey: "adapter"] = "\(name)"
  }

  /// The quirks of all makes, and those of nameless controllers of this adapter.
  var quirks: QuirkTable {
    var quirks = keeper.quirks
    for (model, entries) in nameless.quirks.learned {
      for entry in entries { quirks.learn(entry.quirk, of: model, at: entry.learned ?? 0) }
    }
    return quirks
  }

  /// The controller's quirks that keep something from working.
  var faults: [QuirkTable.Entry] { quirks.entries(of: model).filter(\.quirk.isFault) }

  /// Records that the controller showed a quirk, or lacks it.
  /// - Returns: true if that is new.
  func note(_ quirk: Quirk, _ holds: Bool) -> Bool {
    let keeper: any QuirkKeeper = model.isNamed ? keeper : nameless
    guard holds else { return keeper.quirks.forget(quirk, of: model) }
    let time = scheduler.secondsSinceEpoch
    guard keeper.quirks.learn(quirk, of: model, at: time) else { return false }
    logger.warning("learned of this make of controller: \(QuirkTable.Entry(quirk, learned: time).reason)")
    return true
  }

  /// Logs the activities that the controller cannot have at once.
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
    scheduler.execute { done(error) }
  }

  /// Calls back with an error, for a call with a result.
  func fail<Value>(_ done: @escaping (Result<Value, BluetoothError>) -> Void, _ error: BluetoothError) {
    scheduler.execute { done(.failure(error)) }
  }
}

/// The event loop as well, for parts that watch descriptors.
final class LoopContext: AdapterContext {
  let loop: EventLoop

  init(name: String, loop: EventLoop, scheduler: any Scheduler, logger: Logger) {
    self.loop = loop
    super.init(name: name, scheduler: scheduler, logger: logger)
  }
}

/// The table of one adapter, until it receives the common one.
private final class LocalQuirks: QuirkKeeper {
  var quirks = QuirkTable()
}
