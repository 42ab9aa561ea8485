import Adapter
import BledCore
import Logging
import NIOCore
import SimulatedAdapter

/// The daemon with its adapters, and the settings that are in force. Lives on the event loop.
final class RunningDaemon {
  let daemon: Daemon
  private var settings: Settings
  private let eventLoop: any EventLoop
  private let scheduler: EventLoopScheduler
  private let logger: Logger
  private let air: Air
  private var simulatedCount = 0
  /// The names of the adapters in use.
  private var adapterNames: [String] = []

  /// Makes the daemon and starts its adapters.
  init(
    _ settings: Settings, restoration: RestorationSettings, storage: DocumentFolder?, eventLoop: any EventLoop,
    logger: Logger
  ) {
    self.settings = settings
    self.eventLoop = eventLoop
    self.logger = logger
    scheduler = EventLoopScheduler(eventLoop)
    air = Air(scheduler: scheduler, seed: UInt64.random(in: .min ... .max))
    daemon = Daemon(
      identity: settings.identity, policy: settings.policy, limits: settings.configuration.limits,
      scheduler: scheduler, logger: logger, restoration: restoration, storage: storage)
    warn(settings)
    addAdapters()
  }

  /// Puts other settings into force, as far as that can be done while programs go on.
  func apply(_ new: Settings) {
    let old = settings
    settings = new
    StandardErrorLog.level = new.configuration.log.level
    warn(new)
    for key in new.configuration.keysForRestart(after: old.configuration) {
      logger.warning("\"\(key)\" changed: that waits for the next start")
    }
    daemon.apply(identity: new.identity, policy: new.policy, limits: new.configuration.limits)
    addAdapters()
    logger.info("the configuration was read again")
  }

  /// Starts the adapters that are listed and not in use yet; a name may be there more than once.
  private func addAdapters() {
    var others = adapterNames
    for (name, choice) in zip(settings.configuration.adapters.names, settings.adapters) {
      if let index = others.firstIndex(of: name) {
        others.remove(at: index)
        continue
      }
      daemon.add(choice.make(number: simulatedCount, on: eventLoop, scheduler, air: air))
      if case .simulated = choice { simulatedCount += 1 }
      adapterNames.append(name)
    }
    for name in others { logger.warning("adapter \(name) is no longer listed: it stays in use until the next start") }
  }

  private func warn(_ settings: Settings) {
    for text in settings.unknownAccounts { logger.warning("policy: there is no \(text)") }
  }
}
